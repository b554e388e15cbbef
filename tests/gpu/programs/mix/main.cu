// One ordinary program of a mix: says `ready`, and for each line `go ITERATIONS` does that work and says how long it took and what
// came out. The same number of iterations gives the same checksum, however the program is run.
//   mix KIND [--tiny]
#include <chrono>
#include <cstdio>
#include <cstring>

#include "device.h"
#include "task.h"

namespace {

struct Kind {
    const char *name;
    std::unique_ptr<Task> (*make)(Size);
};

const Kind KINDS[] = {
    {"stencil", makeStencil},     {"training", makeTraining}, {"conjugate", makeConjugate}, {"bodies", makeBodies},
    {"histogram", makeHistogram}, {"options", makeOptions},   {"clusters", makeClusters},   {"sorting", makeSorting},
};

const Kind *find(const char *name)
{
    for (const Kind &kind : KINDS)
        if (!std::strcmp(kind.name, name))
            return &kind;
    return nullptr;
}

int serve(Task &task)
{
    char line[128];
    while (std::fgets(line, sizeof line, stdin)) {
        int iterations;
        if (std::sscanf(line, "go %d", &iterations) != 1 || iterations < 1) {
            std::fprintf(stderr, "mix: not understood: %s", line);
            return 2;
        }
        auto begun = std::chrono::steady_clock::now();
        uint64_t sum = task.run(iterations);
        std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
        std::printf("{\"ms\": %.3f, \"iterations\": %d, \"checksum\": \"%016llx\"}\n", took.count(), iterations,
                    static_cast<unsigned long long>(sum));
        std::fflush(stdout);
    }
    return 0;
}

} // namespace

int main(int count, char **words)
{
    bool tiny = count == 3 && !std::strcmp(words[2], "--tiny");
    const Kind *kind = count == 2 || tiny ? find(words[1]) : nullptr;
    if (!kind) {
        std::fprintf(stderr, "usage: mix KIND [--tiny]; kinds:");
        for (const Kind &one : KINDS)
            std::fprintf(stderr, " %s", one.name);
        std::fprintf(stderr, "\n");
        return 2;
    }
    auto begun = std::chrono::steady_clock::now();
    std::unique_ptr<Task> task = kind->make(Size{tiny});
    task->run(2); // loads the kernels: a start is not what is measured
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    std::printf("{\"what\": \"ready\", \"start_ms\": %.1f}\n", took.count());
    std::fflush(stdout);
    return serve(*task);
}
