package io.tessera.fuzz.run;

import java.nio.file.Path;

/**
 * Settings of a campaign.
 *
 * @param seed          seed of its first kernel, from which the others are derived
 * @param kernels       maximum number of kernels
 * @param seconds       maximum duration
 * @param threads       number of devices at once
 * @param assembler     NVIDIA's assembler; null: none
 * @param assembleEvery one of this many fenced texts is assembled
 * @param compileEvery  one of this many kernels is compiled to bytecode, the others are interpreted; 0: none is compiled
 * @param verifyEvery   the verifier checks the texts of one of this many seeds; 0: of none
 * @param save          folder for failing kernels; null: none are saved
 * @param mostFailures number of failures after which no further kernel begins
 */
public record CampaignSettings(long seed, long kernels, long seconds, int threads, Path assembler, int assembleEvery, int compileEvery,
        int verifyEvery, Path save,
        int mostFailures) {
}
