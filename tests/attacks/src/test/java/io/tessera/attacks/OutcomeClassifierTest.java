package io.tessera.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Outcomes for given records of attackers and findings of victims. */
class OutcomeClassifierTest {
    private static final long SEED = 42;
    private static final Victim.Finding WELL = new Victim.Finding(10, 0, 0, 0, 5, "");

    private final OutcomeClassifier judge = new OutcomeClassifier(new VictimSecret(SEED), 1000);

    private static Attack attack(Attack.Must must) {
        return new Attack("load/index", must, "reads", List.of("true"), 0, false);
    }

    private AttackOutcome judged(Attack.Must must, Victim.Finding finding, int exit, String... lines) {
        return judge.judge(attack(must), AttackerRecord.read(List.of(lines), exit, 1), finding, "", true);
    }

    @Test
    void aWordOfTheSecretIsAnEscapeWhereverItStands() {
        byte[] word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(VictimSecret.word(SEED, 3, 77)).array();
        String hex = HexFormat.of().formatHex(word);
        assertEquals("saw 1 words", judged(Attack.Must.HARMLESS, WELL, 0, "loot 0011" + hex + "22").escaped());
        assertEquals("", judged(Attack.Must.HARMLESS, WELL, 0, "loot 0011" + hex.substring(0, 14) + "22").escaped());
        // A device's printf puts bytes on a line of its own.
        String printed = new String(word, java.nio.charset.StandardCharsets.ISO_8859_1);
        assertEquals("saw 1 words", judged(Attack.Must.HARMLESS, WELL, 0, "x" + printed + "y").escaped());
    }

    @Test
    void whatTheVictimFindsCounts() {
        AttackOutcome changed = judged(Attack.Must.HARMLESS, new Victim.Finding(1, 0, 3, 0, 1, ""), 0);
        assertEquals("changed 3 words", changed.escaped());
        assertEquals("memory", changed.disturbed());
        assertEquals("stalled 2000 ms", judged(Attack.Must.HARMLESS, new Victim.Finding(1, 0, 0, 0, 2000, ""), 0).disturbed());
        assertEquals("2 errors", judged(Attack.Must.HARMLESS, new Victim.Finding(1, 0, 0, 2, 1, ""), 0).disturbed());
        assertEquals("victim gone", judged(Attack.Must.HARMLESS, Victim.Finding.lost("gone"), 0).crashed());
        assertTrue(judged(Attack.Must.HARMLESS, WELL, 0).held());
    }

    @Test
    void anAttackerMustFareAsStated() {
        assertTrue(judged(Attack.Must.REFUSED, WELL, 0, "answer 1 a", "answer 400 b").held());
        assertEquals("allowed b", judged(Attack.Must.REFUSED, WELL, 0, "answer 1 a", "answer 0 b").unlike());
        assertEquals("was answered nothing", judged(Attack.Must.REFUSED, WELL, 0).unlike());
        assertEquals("died before it had tried all", judged(Attack.Must.REFUSED, WELL, 139, "answer 1 a").unlike());
        assertEquals("had to be ended", judged(Attack.Must.ENDS, WELL, -1).unlike());
        assertEquals("", judged(Attack.Must.STOPPED, WELL, -1).unlike());
        assertEquals("ended by the runner", judged(Attack.Must.STOPPED, WELL, -1).outcome());
        assertFalse(judged(Attack.Must.HARMLESS, WELL, 4, "unable 801 x").untried().isEmpty());
    }

    /** An attacker's endless loop may end the executor ten seconds after the attacker: until then the attack has not failed. */
    @Test
    void workThatIsLeftHasNotHeld() {
        Attack attack = attack(Attack.Must.HARMLESS);
        AttackerRecord ran = AttackerRecord.read(List.of("answer 0 launch", "done"), 0, 1);
        assertEquals("left work that did not end", judge.judge(attack, ran, WELL, "", false).unlike());
        assertFalse(ran.mayLeaveWork(attack));
        assertTrue(ran.mayLeaveWork(attack(Attack.Must.ENDS)));
        assertTrue(AttackerRecord.read(List.of("answer 702 synchronize"), 0, 1).mayLeaveWork(attack));
        assertTrue(AttackerRecord.read(List.of(), -1, 1).mayLeaveWork(attack));
        assertFalse(AttackerRecord.read(List.of("answer 218 load"), 0, 1).mayLeaveWork(attack));
    }
}
