package io.tessera.software.processor;

import io.tessera.software.launch.FailureReport;
import io.tessera.software.launch.StopWord;
import io.tessera.software.texture.TextureUnit;
import io.tessera.software.texture.TextureView;
import java.util.Map;
import java.util.Set;

/** The variables of a loaded module, as launches of its kernels need them. Immutable; valid until the module is closed. */
public final class LoadedVariables {
    private final Map<String, GlobalVariable> globals;
    /** Addresses of texture and surface references. */
    private final Set<Long> references;

    LoadedVariables(Map<String, GlobalVariable> globals, Set<Long> references) {
        this.globals = Map.copyOf(globals);
        this.references = Set.copyOf(references);
    }

    /** Returns what the references are to a launch: what they stand for, and {@link TextureView#UNBOUND} for those that stand for nothing. */
    TextureUnit references(TextureUnit bound) {
        if (references.isEmpty()) {
            return bound;
        }
        return handle -> {
            TextureView view = bound.find(handle);
            return view == null && references.contains(handle) ? TextureView.UNBOUND : view;
        };
    }

    /** Variables in global and constant memory, by name. */
    public Map<String, GlobalVariable> globals() {
        return globals;
    }

    /** Returns the word by which the threads are ordered to end. */
    StopWord stopWord() {
        return new StopWord(fenceConstants());
    }

    /** Returns where the owner of its fence is told of failures. */
    FailureReport failureReport() {
        return new FailureReport(fenceConstants());
    }

    private long fenceConstants() {
        GlobalVariable constants = globals.get(StopWord.CONSTANTS);
        return constants == null || constants.bytes() < StopWord.CONSTANTS_BYTES ? 0 : constants.address();
    }
}
