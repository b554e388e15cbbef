package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ModifiersTest {
    @Test
    void saysWhatItsWordsSay() {
        Modifiers words = Modifiers.of(List.of("volatile", "global", "v2", "u32", "f64"));
        assertEquals(List.of("volatile", "global", "v2", "u32", "f64"), words);
        assertEquals(".volatile.global.v2.u32.f64", words.text());
        assertEquals(Optional.of(StateSpace.GLOBAL), words.space());
        assertEquals(List.of(ScalarType.U32, ScalarType.F64), words.types());
        assertEquals(Optional.of(ScalarType.F64), words.type());
        assertSame(words, Modifiers.of(words));
        assertEquals("", Modifiers.of(List.of()).text());
    }

    @Test
    void aParserKeepsEachRowOnceAndNotTooMany() {
        Modifiers.Tree none = new Modifiers.Tree();
        assertSame(none.and("global").and("u32").words(), none.and("global").and("u32").words());
        assertEquals(2, none.size());
        for (int i = 0; i < 10_000; i++) {
            assertEquals(List.of("x" + i, "y"), none.and("x" + i).and("y").words());
        }
        assertEquals(4096, none.size());
        assertNotSame(none.and("new").words(), none.and("new").words());
        assertSame(none.and("global").and("u32").words(), none.and("global").and("u32").words());
    }
}
