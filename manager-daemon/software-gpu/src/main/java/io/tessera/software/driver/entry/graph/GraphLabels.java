package io.tessera.software.driver.entry.graph;

import io.tessera.software.driver.graph.NodeType;
import io.tessera.software.driver.operation.Copy;
import io.tessera.software.driver.operation.Fill;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.work.Operation;

/** Labels of nodes in a drawing of a graph. */
final class GraphLabels {
    private GraphLabels() {
    }

    static String of(Operation operation) {
        return switch (operation) {
            case KernelLaunch launch -> "KERNEL " + launch.function().name() + " " + launch.spec().grid() + " "
                    + launch.spec().block();
            case Copy copy -> "MEMCPY " + copy.box().bytes() + " bytes";
            case Fill fill -> "MEMSET " + fill.width() * fill.height() + " x " + fill.elementBytes() + " bytes";
            default -> NodeType.of(operation).name();
        };
    }
}
