package io.tessera.fuzz.run;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Results of a campaign.
 *
 * @param seed      seed of its first kernel
 * @param kernels   number of kernels tried
 * @param legal     number of these that are legal
 * @param endless   number of these that may request endless work
 * @param launches  launches of kernels, unfenced and fenced
 * @param looked    fenced texts that the verifier checked
 * @param plain     number of these that it accepted only without proofs
 * @param unverified number of these that it accepted in neither form
 * @param assembled fenced texts that went through the assembler
 * @param seconds   its duration
 * @param running   threads that have not ended, of a campaign that still runs, or that has stopped waiting for them
 * @param counts    findings by kind: one for each mode
 * @param refusals  why modules were refused, without numbers, and how often
 * @param failures  failures
 */
public record CampaignResult(long seed, int kernels, int legal, int endless, long launches, long looked, long plain, long unverified,
        int assembled, double seconds, int running,
        Map<KernelFinding.Kind, Integer> counts, Map<String, Integer> refusals, List<Failure> failures) {
    /** Returns whether nothing failed and all threads ended. */
    public boolean held() {
        return failures.isEmpty() && running == 0;
    }

    /** Returns the results for scripts. */
    public JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("seed", seed);
        json.addProperty("kernels", kernels);
        json.addProperty("legal", legal);
        json.addProperty("hostile", kernels - legal);
        json.addProperty("endless", endless);
        JsonArray modes = new JsonArray();
        FencingTrial.MODES.forEach(mode -> modes.add(mode.name().toLowerCase(Locale.ROOT)));
        json.add("modes", modes);
        json.addProperty("launches", launches);
        json.addProperty("verified", looked - plain - unverified);
        json.addProperty("verifiedWithoutProofsOnly", plain);
        json.addProperty("unverified", unverified);
        json.addProperty("assembled", assembled);
        json.addProperty("seconds", Math.round(seconds * 10) / 10.0);
        json.addProperty("running", running);
        json.addProperty("escapes", counts.get(KernelFinding.Kind.ESCAPE));
        json.addProperty("differences", counts.get(KernelFinding.Kind.DIFFERENCE));
        json.addProperty("notEnded", counts.get(KernelFinding.Kind.ENDLESS));
        json.addProperty("crashes", counts.get(KernelFinding.Kind.CRASH));
        json.addProperty("refused", counts.get(KernelFinding.Kind.REFUSED));
        json.addProperty("notAssembled", counts.get(KernelFinding.Kind.NOT_ASSEMBLED));
        json.addProperty("notRunUnfenced", counts.get(KernelFinding.Kind.GENERATOR));
        JsonObject reasons = new JsonObject();
        refusals.forEach(reasons::addProperty);
        json.add("refusals", reasons);
        JsonArray list = new JsonArray();
        for (Failure failure : failures) {
            JsonObject one = new JsonObject();
            one.addProperty("seed", failure.kernel().seed());
            one.addProperty("kind", failure.finding().kind().name());
            one.addProperty("where", failure.finding().where());
            one.addProperty("what", failure.finding().what());
            one.addProperty("hostile", failure.kernel().hostile());
            list.add(one);
        }
        json.add("failures", list);
        return json;
    }
}
