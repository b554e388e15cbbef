package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.verify.Symbol;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Arguments that all callers of a function pass for parameters that are always the address of local memory: how many bytes of one variable follow the
 * address. The variable belongs to a function that has not returned. Callers must be processed before their callees. Used by one thread.
 */
public final class Given {
    private final Map<String, Symbol[]> known = new HashMap<>();
    private final Map<String, Map<String, Integer>> places = new HashMap<>();
    private final boolean open;

    /** @param open whether functions of other modules may call its functions */
    public Given(boolean open) {
        this.open = open;
    }

    /** Records the argument for a parameter at a call; null if it is unknown. */
    public void pass(PtxFunction function, int parameter, Value value) {
        Symbol[] all = known.computeIfAbsent(function.name(), k -> new Symbol[function.parameters().size()]);
        boolean local = value != null && value.is(Value.Kind.VARIABLE) && value.symbol().space() == StateSpace.LOCAL && value.low() == value.high()
                && value.low() >= 0 && value.low() < value.symbol().bytes() && value.condition() == null;
        long bytes = local ? value.symbol().bytes() - value.low() : 0;
        int align = local ? Math.min(value.symbol().align(), Value.tz(value.low())) : 0;
        Symbol before = all[parameter];
        all[parameter] = new Symbol(function.parameters().get(parameter).name(), StateSpace.LOCAL,
                before == null ? bytes : Math.min(before.bytes(), bytes), before == null ? align : Math.min(before.align(), align), false);
    }

    /** Parameters of a function that can be pointers. */
    private static Map<String, Integer> places(PtxFunction function) {
        Map<String, Integer> found = new HashMap<>();
        List<Variable> parameters = function.parameters();
        for (int n = 0; n < parameters.size(); n++) {
            Variable variable = parameters.get(n);
            if (variable.space() == StateSpace.PARAM && variable.sizeBytes() == Long.BYTES) {
                found.put(variable.name(), n);
            }
        }
        return found;
    }

    /** Returns the target of a function's parameter, or null. */
    public Symbol of(PtxFunction function, String parameter) {
        Symbol[] all = open || function.kind() != PtxFunction.Kind.FUNC ? null : known.get(function.name());
        Integer place = all == null ? null : places.computeIfAbsent(function.name(), k -> places(function)).get(parameter);
        return place == null || all[place] == null || all[place].bytes() <= 0 ? null : all[place];
    }
}
