package io.tessera.guardian.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.TensorMapParameter;
import io.tessera.guardian.ptx.Linkage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tables come back as they were; damaged ones are refused by one exception. */
@Timeout(180)
class FencedTablesTest {
    private static FencedTables tables(Random random) {
        List<HoistedVariable> variables = random.ints(random.nextInt(4), 0, 1000).mapToObj(n -> {
            byte[] initial = new byte[random.nextInt(50)];
            random.nextBytes(initial);
            return new HoistedVariable("größe" + n, "__tessera_at_" + n, Linkage.values()[n % Linkage.values().length],
                    random.nextBoolean(), random.nextBoolean(), random.nextLong(), 1 << n % 9, initial,
                    List.of(relocation(random), relocation(random)));
        }).toList();
        return new FencedTables(FenceMode.values()[random.nextInt(FenceMode.values().length)], random.nextInt(), variables,
                random.nextBoolean() ? List.of() : List.of(new ConstantPatch("table", relocation(random))),
                List.of("kernel", "_Z1fv"), List.of("a.cu:7: f: x > 0"), random.nextBoolean(), random.nextBoolean(),
                List.of(new TensorMapParameter("kernel", "map", random.nextInt(9), 64L * random.nextInt(9))),
                Map.of("f", "line 7: malloc", "g", ""), random.nextBoolean(), random.nextBoolean(),
                random.nextBoolean() ? Set.of() : Set.of("kernel", "größe"),
                random.nextBoolean() ? Map.of()
                        : Map.of("kernel", new KernelWrites(List.of(8 * random.nextInt(9)), List.of(0, 8, 24), null), "größe",
                                KernelWrites.unknown("It calls größe."), "empty", new KernelWrites(List.of(), List.of(), null)));
    }

    private static HoistedVariable.Relocation relocation(Random random) {
        return new HoistedVariable.Relocation(random.nextLong(), 1 + random.nextInt(8), 8 * random.nextInt(8), "x",
                random.nextLong());
    }

    @Test
    void theyComeBackAsTheyWere() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            FencedTables tables = tables(random);
            assertEquals(tables, FencedTablesReader.read(FencedTablesWriter.write(tables)), "seed " + seed);
        }
    }

    /** Version 9 had no accesses of kernels. */
    @Test
    void tablesOfTheVersionBeforeAreRefused() {
        byte[] bytes = FencedTablesWriter.write(tables(new Random(1)));
        ByteBuffer.wrap(bytes).putInt(0, FencedTablesWriter.VERSION - 1);
        assertEquals("tables of version 9", assertThrows(IOException.class, () -> FencedTablesReader.read(bytes)).getMessage());
    }

    @Test
    void damagedOnesAreRefusedOrReadAsSomething() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            byte[] whole = FencedTablesWriter.write(tables(random));
            byte[] cut = Arrays.copyOf(whole, random.nextInt(whole.length));
            assertThrows(IOException.class, () -> FencedTablesReader.read(cut), "seed " + seed);
            byte[] longer = Arrays.copyOf(whole, whole.length + 1);
            assertThrows(IOException.class, () -> FencedTablesReader.read(longer), "seed " + seed);
            whole[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
            try {
                FencedTablesReader.read(whole);
            } catch (IOException e) {
                continue; // the only way in which it may fail
            }
        }
    }
}
