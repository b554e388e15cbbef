package io.tessera.cli.status;

import java.util.List;

/**
 * Why a program runs or waits on a device. Immutable.
 *
 * @param tenant   the program's tenant
 * @param pid      its process
 * @param device   the device's UUID; empty: it has none yet
 * @param way      how it shares the device: {@code time}, {@code space}, or empty where it has none yet
 * @param state    holds, waits, drains, runs, idle, away, or starts
 * @param sinceNs  for how long; 0: not known
 * @param waitsFor the tenant that holds what it waits for; empty: none, or a program of another user
 * @param sentence all of this in one sentence
 * @param because  rules and numbers
 * @param changes  commands that would change it
 */
record Explanation(String tenant, long pid, String device, String way, String state, long sinceNs, String waitsFor, String sentence,
        List<String> because, List<String> changes) {
}
