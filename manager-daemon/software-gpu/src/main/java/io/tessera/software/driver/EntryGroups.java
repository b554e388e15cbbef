package io.tessera.software.driver;

import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.context.ContextEntries;
import io.tessera.software.driver.entry.context.DeviceEntries;
import io.tessera.software.driver.entry.context.ErrorEntries;
import io.tessera.software.driver.entry.context.EventEntries;
import io.tessera.software.driver.entry.context.StreamEntries;
import io.tessera.software.driver.entry.graph.CaptureEntries;
import io.tessera.software.driver.entry.graph.GraphEdgeEntries;
import io.tessera.software.driver.entry.graph.GraphEntries;
import io.tessera.software.driver.entry.graph.GraphExecEntries;
import io.tessera.software.driver.entry.graph.GraphNodeEntries;
import io.tessera.software.driver.entry.graph.GraphNodeQueryEntries;
import io.tessera.software.driver.entry.graph.UserObjectEntries;
import io.tessera.software.driver.entry.launch.LaunchEntries;
import io.tessera.software.driver.entry.launch.OccupancyEntries;
import io.tessera.software.driver.entry.memory.ArrayEntries;
import io.tessera.software.driver.entry.memory.CopyEntries;
import io.tessera.software.driver.entry.memory.FillEntries;
import io.tessera.software.driver.entry.memory.HostMemoryEntries;
import io.tessera.software.driver.entry.memory.MemoryEntries;
import io.tessera.software.driver.entry.memory.MemoryWordEntries;
import io.tessera.software.driver.entry.memory.PointerEntries;
import io.tessera.software.driver.entry.memory.PoolEntries;
import io.tessera.software.driver.entry.memory.ShapedCopyEntries;
import io.tessera.software.driver.entry.memory.VirtualMemoryEntries;
import io.tessera.software.driver.entry.module.FunctionEntries;
import io.tessera.software.driver.entry.module.LibraryEntries;
import io.tessera.software.driver.entry.module.LinkerEntries;
import io.tessera.software.driver.entry.module.ModuleEntries;
import io.tessera.software.driver.entry.texture.TensorMapEntries;
import io.tessera.software.driver.entry.texture.TextureEntries;
import io.tessera.software.driver.entry.texture.TextureReferenceEntries;
import java.util.List;

/** The entries that the driver serves, by subject. Stateless. */
final class EntryGroups {
    private EntryGroups() {
    }

    /** Returns all groups, over a driver's state. */
    static List<EntryGroup> of(DriverState state) {
        return List.of(
                new DeviceEntries(state),
                new ContextEntries(state),
                new ErrorEntries(),
                new MemoryEntries(state),
                new HostMemoryEntries(state),
                new PointerEntries(state),
                new PoolEntries(state),
                new VirtualMemoryEntries(state),
                new CopyEntries(state),
                new ShapedCopyEntries(state),
                new FillEntries(state),
                new StreamEntries(state),
                new MemoryWordEntries(state),
                new EventEntries(state),
                new ModuleEntries(state),
                new TextureReferenceEntries(state),
                new TensorMapEntries(),
                new LibraryEntries(state),
                new FunctionEntries(state),
                new LinkerEntries(state),
                new LaunchEntries(state),
                new OccupancyEntries(state),
                new CaptureEntries(state),
                new GraphEntries(state),
                new GraphNodeEntries(state),
                new GraphNodeQueryEntries(state),
                new GraphEdgeEntries(state),
                new GraphExecEntries(state),
                new UserObjectEntries(state),
                new ArrayEntries(state),
                new TextureEntries(state));
    }
}
