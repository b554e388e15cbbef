package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProcessCheckpointsTest {
    @Test
    void theAnswerBecomesASentence() {
        assertEquals("the driver refuses (checkpoint, error 801): it takes no managed memory, for one",
                ProcessCheckpoints.sentence(1, "{\"ok\":false,\"step\":\"checkpoint\",\"code\":801}"));
        assertEquals("the driver refuses (restore, error 2)",
                ProcessCheckpoints.sentence(1, "{\"ok\":false,\"step\":\"restore\",\"code\":2}"));
        assertEquals("this driver does not take processes off the device, 570 and newer ones do (symbols, error 500)",
                ProcessCheckpoints.sentence(3, "{\"ok\":false,\"step\":\"symbols\",\"code\":500}"));
    }

    @Test
    void whatIsNoAnswerIsSaidAsItIs() {
        for (String answer : new String[] {"", "{", "[1]", "null", "{\"ok\":false}", "tessera-checkpoint: cannot open"}) {
            assertEquals("exit code 127, " + answer, ProcessCheckpoints.sentence(127, answer));
        }
    }
}
