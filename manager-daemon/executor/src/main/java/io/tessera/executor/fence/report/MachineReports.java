package io.tessera.executor.fence.report;

import io.tessera.device.CudaResult;
import io.tessera.guardian.machine.MachineFence;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the word that a thread of fenced machine code writes before it ends. Code without a fence could write any word, but that can only select one of the
 * texts of the client's own images. One owner thread.
 */
final class MachineReports {
    private static final Image UNKNOWN = new Image("of an unknown name", List.of());

    /** Maximum characters of the texts of all images of a client; texts of further images are not kept. */
    static final int MOST_CHARACTERS = 1 << 24;

    private final Map<Integer, Image> images = new HashMap<>();
    private long characters;

    private record Image(String label, List<String> assertions) {
        long characters() {
            return assertions.stream().mapToLong(String::length).sum();
        }
    }

    /**
     * Meaning of a word.
     *
     * @param result CUresult
     * @param text   for the user
     * @param asItIs whether the text is the line that CUDA prints
     */
    record Said(int result, String text, boolean asItIs) {
    }

    /** See {@link Violations#addImage}. */
    void add(int number, String label, List<String> assertions) {
        Image image = new Image(label, assertions);
        image = characters + image.characters() > MOST_CHARACTERS ? new Image(label, List.of()) : image;
        characters += image.characters();
        images.put(number, image);
    }

    /** See {@link Violations#removeImage}. */
    void remove(int number) {
        Image image = images.remove(number);
        characters -= image == null ? 0 : image.characters();
    }

    /** Returns the meaning of a word other than 0. */
    Said read(int word) {
        Image image = images.getOrDefault(MachineFence.valueOf(word), UNKNOWN);
        if (!MachineFence.isAssertion(word)) {
            return new Said(CudaResult.LAUNCH_FAILED,
                    "a kernel of image " + image.label + " stopped at a trap; its machine code does not say in which line", false);
        }
        int text = MachineFence.textOf(word);
        return text == 0 || text > image.assertions.size()
                ? new Said(CudaResult.ASSERT,
                        "a kernel of image " + image.label + " stopped at a device-side assertion; its machine code does not say in which line",
                        false)
                : new Said(CudaResult.ASSERT, AssertionLine.of(image.assertions.get(text - 1), ""), true);
    }
}
