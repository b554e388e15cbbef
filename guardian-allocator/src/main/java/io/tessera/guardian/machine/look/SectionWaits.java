package io.tessera.guardian.machine.look;

/**
 * Role of a section in waiting for other blocks of its grid; {@link WaitingLoops} has the rule. Immutable.
 *
 * @param waits the first loop that may wait, for users; null if there is none
 * @param loads whether a load may observe other blocks, if a loop elsewhere calls the section, or memory is fenced in it
 * @param calls whether a loop that is not counted calls functions of other sections
 */
public record SectionWaits(String waits, boolean loads, boolean calls) {
}
