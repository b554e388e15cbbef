package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Map;

/** A kernel {@code k} that is accepted, and not any more once one thing of its text is another. Stateless. */
final class OneChange {
    private OneChange() {
    }

    /** Accepted as it is, and refused with these words with any of the changes (a text and another). */
    static void onlySo(String text, String why, String[]... changes) throws Exception {
        assertEquals(Map.of(), rejected(text), text);
        for (String[] change : changes) {
            assertTrue(text.contains(change[0]), change[0] + " is not in\n" + text);
            String changed = text.replace(change[0], change[1]);
            Map<String, UnverifiedException> rejected = rejected(changed);
            assertTrue(rejected.containsKey("k") && rejected.get("k").getMessage().contains(why),
                    () -> change[0] + " -> " + change[1] + ": " + rejected + "\n" + changed);
        }
    }

    private static Map<String, UnverifiedException> rejected(String text) throws UnverifiedException {
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).rejected();
    }
}
