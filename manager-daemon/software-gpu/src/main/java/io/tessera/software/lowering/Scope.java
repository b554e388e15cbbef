package io.tessera.software.lowering;

import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.software.program.LoweredOperand;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Names of one block of a function; a name is looked up from the inside out. */
final class Scope {
    /** Place of a variable, from the point of view of a function. */
    sealed interface Place {
        /** Global or constant memory. */
        record Module(String symbol) implements Place {
        }

        /** Shared memory, at an offset of the block's. */
        record Shared(int offset) implements Place {
        }

        /** The function's frame. */
        record Frame(int offset, int bytes) implements Place {
        }

        /** The kernel's parameter buffer. */
        record KernelParameter(int offset) implements Place {
        }
    }

    private final Scope outer;
    private final Map<String, List<LoweredOperand.Register>> registers = new HashMap<>();
    private final Map<String, Place> places = new HashMap<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final Map<String, TargetList> targetLists = new HashMap<>();
    private final Map<String, CallPrototype> prototypes = new HashMap<>();

    Scope(Scope outer) {
        this.outer = outer;
    }

    Scope outer() {
        return outer;
    }

    void register(String name, List<LoweredOperand.Register> elements) {
        registers.put(name, elements);
    }

    void place(String name, Place place) {
        places.put(name, place);
    }

    void label(String name, int number) {
        labels.put(name, number);
    }

    void targets(TargetList list) {
        targetLists.put(list.name(), list);
    }

    void prototype(CallPrototype prototype) {
        prototypes.put(prototype.name(), prototype);
    }

    /** Elements of a register (one, unless it is a vector), or null. */
    List<LoweredOperand.Register> registers(String name) {
        for (Scope scope = this; scope != null; scope = scope.outer) {
            List<LoweredOperand.Register> found = scope.registers.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    Place place(String name) {
        for (Scope scope = this; scope != null; scope = scope.outer) {
            Place found = scope.places.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    Integer label(String name) {
        for (Scope scope = this; scope != null; scope = scope.outer) {
            Integer found = scope.labels.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    TargetList targets(String name) {
        for (Scope scope = this; scope != null; scope = scope.outer) {
            TargetList found = scope.targetLists.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    CallPrototype prototype(String name) {
        for (Scope scope = this; scope != null; scope = scope.outer) {
            CallPrototype found = scope.prototypes.get(name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
