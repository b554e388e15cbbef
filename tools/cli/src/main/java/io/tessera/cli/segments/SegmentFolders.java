package io.tessera.cli.segments;

import io.tessera.cli.context.CommandContext;
import io.tessera.protocol.RuntimeDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The folders that can have segments: that of this user's manager, and that of root's. */
final class SegmentFolders {
    private SegmentFolders() {
    }

    static List<Path> of(CommandContext context) {
        Map<String, String> environment = context.environment();
        return Stream.of(context.uid(), 0).map(uid -> RuntimeDirectory.of(environment, uid).shmDirectory())
                .distinct().toList();
    }

    static String names(CommandContext context) {
        return of(context).stream().map(Path::toString).collect(Collectors.joining(", "));
    }
}
