package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.segment.ResidencyBlock;
import org.junit.jupiter.api.Test;

/** Sentences of the status about plan auto, fact by fact. */
class PlanChoiceTest {
    private static String sentence(int facts) {
        return PlanChoice.sentence(ResidencyBlock.CHOICE_AUTO | facts, 0);
    }

    @Test
    void everyReasonHasItsSentence() {
        assertEquals("", PlanChoice.sentence(ResidencyBlock.CHOICE_DEVICES, 0), "its plan was told");
        assertTrue(sentence(0).startsWith("swap: "), sentence(0));
        assertTrue(sentence(ResidencyBlock.CHOICE_DEVICES).startsWith("plain from now on: the program uses several devices"));
        assertTrue(sentence(ResidencyBlock.CHOICE_EXPORTED).startsWith("plain from now on: the program exports"));
        assertTrue(sentence(ResidencyBlock.CHOICE_UNMAPPED).startsWith("managed: "));
        assertTrue(sentence(ResidencyBlock.CHOICE_UNMAPPED | ResidencyBlock.CHOICE_UNPAGED).startsWith("plain: "));
        assertTrue(sentence(ResidencyBlock.CHOICE_UNMAPPED | ResidencyBlock.CHOICE_DEVICES).startsWith("plain from now on"));
    }
}
