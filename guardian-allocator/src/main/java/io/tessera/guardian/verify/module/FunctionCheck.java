package io.tessera.guardian.verify.module;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.WorkBudget;
import io.tessera.guardian.verify.flow.Body;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.graph.Values;
import io.tessera.guardian.verify.instruction.Calls;
import io.tessera.guardian.verify.instruction.Instructions;
import io.tessera.guardian.verify.loop.GridLookCheck;
import io.tessera.guardian.verify.loop.LoopCheck;
import io.tessera.guardian.verify.loop.Strides;
import io.tessera.guardian.verify.loop.WorkBetweenLooks;
import io.tessera.guardian.verify.value.Given;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Checks one function separately, for any arguments and any caller. Used once. */
final class FunctionCheck {
    private final Body body;
    private final ModuleNames module;
    private final Given given;
    private final WorkBudget work;
    private boolean shared;
    private boolean looks;
    private WorkBetweenLooks between;
    private long blocks = GridLookCheck.UNBOUNDED;

    FunctionCheck(Body body, ModuleNames module, Given given, WorkBudget work) {
        this.given = given;
        this.body = body;
        this.module = module;
        this.work = work;
    }

    /** Checks it. */
    void check() throws UnverifiedException {
        Form[] forms = new Form[body.code.size()];
        for (int at = 0; at < forms.length; at++) {
            Instruction i = body.code.get(at);
            forms[at] = Form.of(i, module.mode());
            shared |= i.space().filter(space -> space == StateSpace.SHARED).isPresent();
        }
        Flow flow = new Flow(body);
        Graph graph = new Graph(body, flow, forms, module.mode(), work);
        Values values = new Values(graph, module, given);
        values.find();
        LoopCheck loops = new LoopCheck(graph);
        if (module.mode() != Mode.NONE) {
            loops.check();
            Map<Node, Value> moved = Strides.of(graph, loops.counted());
            if (!moved.isEmpty()) {
                values.narrow(moved);
            }
        }
        new Instructions(graph, module, new Calls(graph, module, given)).check();
        if (module.mode() != Mode.NONE) {
            looks = loops.looksAtBothEnds();
            between = loops.work();
            blocks = GridLookCheck.blocks(body.code);
        }
    }

    /** Returns whether it looks at the stop word before it calls anything, and before it returns. */
    boolean looks() {
        return looks;
    }

    /** Returns its work between looks; null if no other tenant waits for it. */
    WorkBetweenLooks between() {
        return between;
    }

    /** The number of blocks of a kernel's grid that may omit the look at the stop word when they begin. */
    long blocks() {
        return blocks;
    }

    /** Returns whether any instruction in it names shared memory. */
    boolean touchesShared() {
        return shared;
    }

    /** Constants with addresses that it reads and the module defines. */
    Set<String> addresses() {
        Set<String> found = new LinkedHashSet<>();
        for (Instruction i : body.code) {
            for (Operand operand : i.operands()) {
                if (operand instanceof Operand.Address(Operand.Named(String name), long _) && module.definesAddress(name)) {
                    found.add(name);
                }
            }
        }
        return found;
    }
}
