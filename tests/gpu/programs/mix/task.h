// What every kind of work is to the program: made once, then run as often as asked, always from the same beginning.
#pragma once
#include <cstdint>
#include <memory>

class Task {
public:
    virtual ~Task() = default;

    /** Starts again, does this many iterations and waits for them; returns the checksum of the result. */
    virtual uint64_t run(int iterations) = 0;
};

/** How large: `tiny` is for the software GPU, the other fills a third of an H200's multiprocessors. */
struct Size {
    bool tiny;

    int of(int whole, int small) const { return tiny ? small : whole; }
};

std::unique_ptr<Task> makeStencil(Size size);
std::unique_ptr<Task> makeTraining(Size size);
std::unique_ptr<Task> makeConjugate(Size size);
std::unique_ptr<Task> makeBodies(Size size);
std::unique_ptr<Task> makeHistogram(Size size);
std::unique_ptr<Task> makeOptions(Size size);
std::unique_ptr<Task> makeClusters(Size size);
std::unique_ptr<Task> makeSorting(Size size);
