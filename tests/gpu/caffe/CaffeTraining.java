import java.util.Locale;
import java.util.Scanner;
import org.bytedeco.caffe.Caffe;
import org.bytedeco.caffe.ConvolutionParameter;
import org.bytedeco.caffe.FloatMemoryDataLayer;
import org.bytedeco.caffe.FloatNet;
import org.bytedeco.caffe.FloatSGDSolver;
import org.bytedeco.caffe.FloatSolver;
import org.bytedeco.caffe.LRNParameter;
import org.bytedeco.caffe.LayerParameter;
import org.bytedeco.caffe.MemoryDataParameter;
import org.bytedeco.caffe.NetParameter;
import org.bytedeco.caffe.PoolingParameter;
import org.bytedeco.caffe.ReLUParameter;
import org.bytedeco.caffe.SoftmaxParameter;
import org.bytedeco.caffe.SolverParameter;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Loader;

/**
 * What {@code train.cpp} beside it does, from Java: trains a net of Caffe 1.0 on generated data and runs it forward. The
 * same data, solver and questions, so its losses must be those of the C++ program. Caffe's own code computes everything
 * ({@code --engine caffe}).
 *
 * <p>{@code java CaffeTraining NET.prototxt [--cpu]}; says "ready", then answers lines {@code train N} and {@code infer N}.
 */
public final class CaffeTraining {
    private static final int TRAIN = 0;
    private static final int TEST = 1;
    private static final int WARM = 20;

    private final FloatSGDSolver solver;
    private final FloatNet inference;
    /** Caffe reads from these for as long as it runs. */
    private final FloatPointer values;
    private final FloatPointer labels;

    private CaffeTraining(String net) {
        SolverParameter parameters = parameters(net);
        solver = new FloatSGDSolver(parameters);
        MemoryDataParameter shape = parameters.net_param().layer(0).memory_data_param();
        int count = shape.batch_size() * 10;
        values = new FloatPointer((long) count * shape.channels() * shape.height() * shape.width());
        labels = new FloatPointer(count);
        generate(count, shape.channels(), shape.height(), shape.width());
        give(solver.net(), count);
        NetParameter testing = new NetParameter(parameters.net_param());
        testing.mutable_state().set_phase(TEST);
        inference = new FloatNet(testing);
        inference.ShareTrainedLayersWith(solver.net());
        give(inference, count);
    }

    /** Runs the program. */
    public static void main(String[] arguments) {
        long startNs = System.nanoTime();
        boolean cpu = arguments.length > 1 && arguments[1].equals("--cpu");
        Loader.load(org.bytedeco.caffe.global.caffe.class);
        if (!cpu) {
            Caffe.SetDevice(0);
        }
        Caffe.set_mode(cpu ? Caffe.CPU : Caffe.GPU);
        CaffeTraining training = new CaffeTraining(arguments[0]);
        double first = training.train(1);
        training.infer(1);
        double ms = (System.nanoTime() - startNs) / 1e6;
        double warm = training.train(WARM);
        training.infer(WARM);
        System.out.println(String.format(Locale.ROOT,
                "{\"what\": \"ready\", \"net\": \"%s\", \"start_ms\": %.1f, \"first\": \"%s\", \"loss\": \"%s\"}",
                training.solver.net().name().getString(), ms, bits(first), bits(warm)));
        training.serve();
    }

    private static SolverParameter parameters(String net) {
        SolverParameter parameters = new SolverParameter();
        org.bytedeco.caffe.global.caffe.ReadProtoFromTextFileOrDie(net, parameters.mutable_net_param());
        for (int i = 0; i < parameters.net_param().layer_size(); i++) {
            choose(parameters.mutable_net_param().mutable_layer(i));
        }
        parameters.set_base_lr(0.01f);
        parameters.set_lr_policy("fixed");
        parameters.set_momentum(0.9f);
        parameters.set_weight_decay(0.0005f);
        parameters.set_max_iter(1 << 30);
        parameters.set_random_seed(1701);
        parameters.set_display(0);
        parameters.set_snapshot_after_train(false);
        return parameters;
    }

    /** Caffe's own implementation of each layer, which uses cuBLAS for convolutions. */
    private static void choose(LayerParameter layer) {
        switch (layer.type().getString()) {
            case "Convolution":
                layer.mutable_convolution_param().set_engine(ConvolutionParameter.CAFFE);
                break;
            case "Pooling":
                layer.mutable_pooling_param().set_engine(PoolingParameter.CAFFE);
                break;
            case "ReLU":
                layer.mutable_relu_param().set_engine(ReLUParameter.CAFFE);
                break;
            case "LRN":
                layer.mutable_lrn_param().set_engine(LRNParameter.CAFFE);
                break;
            case "SoftmaxWithLoss":
                layer.mutable_softmax_param().set_engine(SoftmaxParameter.CAFFE);
                break;
            default:
                break;
        }
    }

    /** Ten classes: each a pattern of waves of its own frequency, with noise. The numbers are those of train.cpp. */
    private void generate(int count, int channels, int height, int width) {
        int state = 12345;
        long at = 0;
        for (int n = 0; n < count; n++) {
            int label = n * 7 % 10;
            labels.put(n, label);
            for (int c = 0; c < channels; c++) {
                for (int y = 0; y < height; y++) {
                    for (int x = 0; x < width; x++) {
                        state = state * 1664525 + 1013904223;
                        int stripe = (x * (1 + label % 5) + y * (1 + label / 5) + c) % 8;
                        values.put(at++, stripe / 8.0f - 0.5f + (state >>> 16) / 65536.0f - 0.5f);
                    }
                }
            }
        }
    }

    private void give(FloatNet net, int count) {
        net.layer_by_name(FloatMemoryDataLayer.class, "data").Reset(values, labels, count);
    }

    private float train(int iterations) {
        ((FloatSolver) solver).Step(iterations);
        return solver.net().output_blobs().get(0).cpu_data().get(0);
    }

    private float infer(int iterations) {
        float[] loss = new float[1];
        for (int i = 0; i < iterations; i++) {
            inference.Forward(loss);
        }
        return loss[0];
    }

    private void serve() {
        Scanner questions = new Scanner(System.in);
        while (questions.hasNext()) {
            String what = questions.next();
            int iterations = questions.nextInt();
            long startNs = System.nanoTime();
            double loss = what.equals("train") ? train(iterations) : infer(iterations);
            double ms = (System.nanoTime() - startNs) / 1e6;
            System.out.println(String.format(Locale.ROOT,
                    "{\"what\": \"%s\", \"iterations\": %d, \"ms\": %.4f, \"loss\": \"%s\", \"shown\": %.6f}", what,
                    iterations, ms, bits(loss), loss));
        }
    }

    /** As C's %a writes it. */
    private static String bits(double number) {
        return Double.toHexString(number).replaceFirst("p(?=\\d)", "p+");
    }
}
