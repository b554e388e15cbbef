package io.tessera.guardian.cache;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import java.io.IOException;
import java.util.List;

/**
 * What is needed besides the machine code to load a fenced module: {@link FencedModule} without its PTX and reports. Kept
 * beside the code in a cache, so that a second start parses nothing. Immutable.
 *
 * @param mode        how the module is fenced
 * @param id          {@link FencedModule#id()}
 * @param variables   {@link FencedModule#variables()}
 * @param patches     {@link FencedModule#patches()}
 * @param functions   {@link FencedModule#functions()}
 * @param assertTexts {@link FencedModule#assertTexts()}
 */
public record FencedTables(FenceMode mode, int id, List<HoistedVariable> variables, List<ConstantPatch> patches,
        List<String> functions, List<String> assertTexts) {
    /** Copies the lists. */
    public FencedTables {
        variables = List.copyOf(variables);
        patches = List.copyOf(patches);
        functions = List.copyOf(functions);
        assertTexts = List.copyOf(assertTexts);
    }

    /** The tables of a module. */
    public static FencedTables of(FencedModule module) {
        return new FencedTables(module.mode(), module.id(), module.variables(), module.patches(), module.functions(),
                module.assertTexts());
    }

    /** Their binary form, for {@link CachedCode#tables()}. */
    public byte[] bytes() {
        return FencedTablesWriter.write(this);
    }

    /**
     * The tables in their binary form.
     *
     * @throws IOException if the bytes are of another version or no tables: who reads makes the code anew
     */
    public static FencedTables read(byte[] bytes) throws IOException {
        return FencedTablesReader.read(bytes);
    }
}
