package io.tessera.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The report of a run that did not have time for all attacks. */
class SuiteReportTest {
    private static final AttackOutcome HELD = new AttackOutcome(new Attack("load/index", Attack.Must.HARMLESS, "reads", List.of("true"), 0, false),
            "", "", "", "", "", "ran", 7, 3);

    @Test
    void anAttackThatDidNotBeginDidNotHold() {
        assertTrue(new SuiteReport(List.of(HELD), List.of()).held());
        SuiteReport cut = new SuiteReport(List.of(HELD), List.of("store/index"));
        assertFalse(cut.held());
        assertEquals("[\"store/index\"]", cut.json().getAsJsonArray("noTimeFor").toString());
        assertTrue(cut.sums().contains("no time for: 1"), cut.sums()::toString);
    }
}
