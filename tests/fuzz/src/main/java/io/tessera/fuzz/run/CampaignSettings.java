package io.tessera.fuzz.run;

import java.nio.file.Path;

/**
 * How long and how a campaign runs.
 *
 * @param seed          of its first kernel; others follow from it
 * @param kernels       how many, at most
 * @param seconds       how long, at most
 * @param threads       how many devices at once
 * @param assembler     NVIDIA's assembler; null: none
 * @param assembleEvery of how many fenced texts one goes through it
 * @param compileEvery  of how many kernels one is compiled to bytecode, where others are interpreted; 0: none
 * @param verifyEvery   of how many seeds the verifier looks at one's texts; 0: at none
 * @param save          folder for failing kernels; null: none are saved
 * @param mostFailures failures after which nothing new is begun
 */
public record CampaignSettings(long seed, long kernels, long seconds, int threads, Path assembler, int assembleEvery, int compileEvery,
        int verifyEvery, Path save,
        int mostFailures) {
}
