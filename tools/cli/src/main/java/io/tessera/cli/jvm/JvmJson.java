package io.tessera.cli.jvm;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Reports for scripts. Bytes, milliseconds and nanoseconds as the names say. */
final class JvmJson {
    private JvmJson() {
    }

    /** One JVM; a part that was not asked for is absent. */
    static JsonObject of(JvmReport report) {
        JsonObject json = of(report.process(), report.summary());
        if (report.heap() != null) {
            json.add("heap", array(report.heap(), JvmJson::row));
        }
        if (report.leaks() != null) {
            json.addProperty("leaksOlderThanMs", report.olderMs());
            json.add("leaks", array(report.leaks(), JvmJson::row));
        }
        if (report.launchers() != null) {
            json.add("launchers", array(report.launchers(), JvmJson::row));
        }
        return json;
    }

    /** A JVM and its single numbers, if it has any. */
    private static JsonObject of(JvmProcess process, GpuSummary summary) {
        JsonObject json = new JsonObject();
        json.addProperty("pid", process.pid());
        json.addProperty("program", process.program());
        json.addProperty("client", process.client());
        if (summary == null) {
            return json;
        }
        json.addProperty("agentVersion", summary.version());
        json.addProperty("recording", summary.recording());
        json.addProperty("late", summary.late());
        json.addProperty("driver", summary.driver());
        json.addProperty("liveBytes", summary.liveBytes());
        json.addProperty("liveAllocations", summary.liveAllocations());
        json.addProperty("launches", summary.launches());
        json.addProperty("turnWaitNs", summary.turnWaitNs());
        json.addProperty("evictedBytes", summary.evictedBytes());
        json.addProperty("swappedBytes", summary.swappedBytes());
        json.addProperty("suppressed", summary.suppressed());
        json.addProperty("dropped", summary.dropped());
        return json;
    }

    private static <T> JsonArray array(List<T> rows, Function<T, JsonObject> json) {
        JsonArray array = new JsonArray();
        rows.forEach(row -> array.add(json.apply(row)));
        return array;
    }

    private static JsonObject row(SiteRow row) {
        JsonObject json = new JsonObject();
        json.addProperty("site", row.site());
        json.addProperty("kind", row.kind());
        json.addProperty("count", row.count());
        json.addProperty("bytes", row.bytes());
        json.addProperty("oldestMs", row.oldestMs());
        return json;
    }

    private static JsonObject row(LeakSite row) {
        JsonObject json = new JsonObject();
        json.addProperty("site", row.site());
        json.addProperty("kind", row.kind());
        json.addProperty("verdict", row.verdict().name().toLowerCase(Locale.ROOT));
        json.addProperty("count", row.count());
        json.addProperty("bytes", row.bytes());
        json.addProperty("oldestMs", row.oldestMs());
        json.addProperty("youngestMs", row.youngestMs());
        json.addProperty("ownersCollected", row.ownersCollected());
        return json;
    }

    private static JsonObject row(LaunchSiteRow row) {
        JsonObject json = new JsonObject();
        json.addProperty("kernel", row.kernel());
        json.addProperty("site", row.site());
        json.addProperty("launches", row.launches());
        json.addProperty("bytes", row.bytes());
        return json;
    }
}
