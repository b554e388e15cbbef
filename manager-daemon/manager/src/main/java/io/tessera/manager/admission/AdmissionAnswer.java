package io.tessera.manager.admission;

/**
 * What the queue answers to a wish.
 *
 * @param place    0: a place is kept for the program, it may start. Else its place among those who wait, from 1
 * @param waiting  how many wait
 * @param reason   why it waits, or why it cannot even wait; empty: it does not wait
 * @param hopeless whether waiting would not help
 */
public record AdmissionAnswer(int place, int waiting, String reason, boolean hopeless) {
    static AdmissionAnswer never(String reason) {
        return new AdmissionAnswer(0, 0, reason, true);
    }

    /** Whether the program may start. */
    public boolean admitted() {
        return place == 0 && !hopeless;
    }
}
