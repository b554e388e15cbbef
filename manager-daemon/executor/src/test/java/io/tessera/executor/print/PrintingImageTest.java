package io.tessera.executor.print;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.image.ModuleImage;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PrintingImageTest {
    private static final int IMAGES = 20_000;

    /** Texts of the symbol's own letters, so that nearly all of them almost hold it. */
    @Test
    void findsTheSymbolWhereverItStands() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        String letters = "vprintfvprintf_";
        for (int i = 0; i < IMAGES; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(40); text.length() < length;) {
                int begin = random.nextInt(letters.length());
                text.append(letters, begin, Math.min(letters.length(), begin + 1 + random.nextInt(8)));
            }
            String image = text.toString();
            assertEquals(image.contains("vprintf"),
                    PrintingImage.prints(ModuleImage.of(image.getBytes(StandardCharsets.US_ASCII))), image);
        }
    }
}
