// Trains a net of Caffe 1.0 on generated data and runs it forward, as `caffe train` and `caffe time` do.
//
//   train NET.prototxt [--engine caffe|cudnn] [--convolution caffe|cudnn] [--cpu]
//
// Says "ready" once everything is compiled and warm, then does what each line of its input asks: `train N` or `infer N`
// iterations. Every answer is a line with a JSON object: the milliseconds and the last loss with all its bits. Caffe
// itself is the released build, unmodified; this file is what its tool would be.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <caffe/layers/memory_data_layer.hpp>
#include <caffe/net.hpp>
#include <caffe/sgd_solvers.hpp>
#include <caffe/util/io.hpp>

namespace {

struct Wishes {
    const char *net = nullptr;
    bool cudnn = false;
    bool cudnn_convolution = false;
    bool cpu = false;
};

struct Samples {
    std::vector<float> values;
    std::vector<float> labels;
    int count;
};

[[noreturn]] void fail(const std::string &why) {
    std::fprintf(stderr, "train: %s\n", why.c_str());
    std::exit(2);
}

Wishes parse(int count, char **words) {
    Wishes wishes;
    for (int i = 1; i < count; i++) {
        std::string word = words[i];
        std::string value = i + 1 < count ? words[i + 1] : "";
        bool engine = word == "--engine" || word == "--convolution";
        if (engine && (value == "caffe" || value == "cudnn")) {
            (word == "--engine" ? wishes.cudnn : wishes.cudnn_convolution) = value == "cudnn";
            i++;
        } else if (word == "--cpu") {
            wishes.cpu = true;
        } else if (wishes.net == nullptr && word[0] != '-') {
            wishes.net = words[i];
        } else {
            fail("train NET.prototxt [--engine caffe|cudnn] [--convolution caffe|cudnn] [--cpu], not " + word);
        }
    }
    if (wishes.net == nullptr) {
        fail("which net?");
    }
    return wishes;
}

// Which implementation computes each layer. Caffe's own uses cuBLAS for convolutions.
template <typename Parameter>
void choose(Parameter *parameter, bool cudnn) {
    parameter->set_engine(cudnn ? Parameter::CUDNN : Parameter::CAFFE);
}

void choose_engines(caffe::NetParameter *net, const Wishes &wishes) {
    for (int i = 0; i < net->layer_size(); i++) {
        caffe::LayerParameter *layer = net->mutable_layer(i);
        const std::string &type = layer->type();
        if (type == "Convolution") {
            choose(layer->mutable_convolution_param(), wishes.cudnn_convolution);
        } else if (type == "Pooling") {
            choose(layer->mutable_pooling_param(), wishes.cudnn);
        } else if (type == "ReLU") {
            choose(layer->mutable_relu_param(), wishes.cudnn);
        } else if (type == "LRN") {
            choose(layer->mutable_lrn_param(), wishes.cudnn);
        } else if (type == "SoftmaxWithLoss") {
            choose(layer->mutable_softmax_param(), wishes.cudnn);
        }
    }
}

// Ten classes: each a pattern of waves of its own frequency, with noise. The same on every machine.
Samples generate(int count, int channels, int height, int width) {
    Samples samples;
    samples.count = count;
    unsigned state = 12345;
    for (int n = 0; n < count; n++) {
        int label = n * 7 % 10;
        samples.labels.push_back(static_cast<float>(label));
        for (int c = 0; c < channels; c++) {
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    state = state * 1664525u + 1013904223u;
                    int stripe = (x * (1 + label % 5) + y * (1 + label / 5) + c) % 8;
                    samples.values.push_back(stripe / 8.0f - 0.5f + (state >> 16) / 65536.0f - 0.5f);
                }
            }
        }
    }
    return samples;
}

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void give(caffe::Net<float> *net, Samples *samples) {
    auto data = boost::static_pointer_cast<caffe::MemoryDataLayer<float> >(net->layer_by_name("data"));
    data->Reset(samples->values.data(), samples->labels.data(), samples->count);
}

float forward(caffe::Net<float> *net) {
    float loss = 0;
    net->Forward(&loss);
    return loss;
}

float repeat(caffe::Net<float> *net, int iterations) {
    float loss = 0;
    for (int i = 0; i < iterations; i++) {
        loss = forward(net);
    }
    return loss;
}

// One iteration at a time, as the solver's own loop does; the loss is read in each, so the device is idle after it.
float train(caffe::Solver<float> *solver, int iterations) {
    solver->Step(iterations);
    return solver->net()->output_blobs()[0]->cpu_data()[0];
}

}  // namespace

int main(int count, char **words) {
    Wishes wishes = parse(count, words);
    double start = milliseconds();
    google::InitGoogleLogging(words[0]);
    FLAGS_minloglevel = 1;
    if (!wishes.cpu) {
        caffe::Caffe::SetDevice(0);
    }
    caffe::Caffe::set_mode(wishes.cpu ? caffe::Caffe::CPU : caffe::Caffe::GPU);

    caffe::SolverParameter parameters;
    caffe::ReadProtoFromTextFileOrDie(wishes.net, parameters.mutable_net_param());
    choose_engines(parameters.mutable_net_param(), wishes);
    parameters.set_base_lr(0.01f);
    parameters.set_lr_policy("fixed");
    parameters.set_momentum(0.9f);
    parameters.set_weight_decay(0.0005f);
    parameters.set_max_iter(1 << 30);
    parameters.set_random_seed(1701);
    parameters.set_display(0);
    parameters.set_snapshot_after_train(false);
    caffe::SGDSolver<float> solver(parameters);
    const caffe::MemoryDataParameter &shape = parameters.net_param().layer(0).memory_data_param();
    Samples samples = generate(static_cast<int>(shape.batch_size()) * 10, static_cast<int>(shape.channels()),
                               static_cast<int>(shape.height()), static_cast<int>(shape.width()));
    give(solver.net().get(), &samples);

    caffe::NetParameter testing = parameters.net_param();
    testing.mutable_state()->set_phase(caffe::TEST);
    caffe::Net<float> inference(testing);
    inference.ShareTrainedLayersWith(solver.net().get());
    give(&inference, &samples);

    float first = train(&solver, 1);
    forward(&inference);
    double compiled = milliseconds() - start;
    float warm = train(&solver, 20);
    repeat(&inference, 20);
    std::printf("{\"what\": \"ready\", \"net\": \"%s\", \"start_ms\": %.1f, \"first\": \"%a\", \"loss\": \"%a\"}\n",
                parameters.net_param().name().c_str(), compiled, static_cast<double>(first), static_cast<double>(warm));
    std::fflush(stdout);

    std::string what;
    int iterations = 0;
    while (std::cin >> what >> iterations) {
        if (iterations < 1 || (what != "train" && what != "infer")) {
            fail("neither train N nor infer N: " + what);
        }
        double before = milliseconds();
        float loss = what == "train" ? train(&solver, iterations) : repeat(&inference, iterations);
        double took = milliseconds() - before;
        std::printf("{\"what\": \"%s\", \"iterations\": %d, \"ms\": %.4f, \"loss\": \"%a\", \"shown\": %.6f}\n",
                    what.c_str(), iterations, took, static_cast<double>(loss), static_cast<double>(loss));
        std::fflush(stdout);
    }
    return 0;
}
