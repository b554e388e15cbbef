package io.tessera.guardian.verify.module;

import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import io.tessera.guardian.verify.LinkInterface;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.WorkBudget;
import io.tessera.guardian.verify.flow.Body;
import io.tessera.guardian.verify.flow.ClusterEnds;
import io.tessera.guardian.verify.loop.CallTrees;
import io.tessera.guardian.verify.loop.WorkBetweenLooks;
import io.tessera.guardian.verify.value.Given;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads fenced text again and says which of its kernels are shown to be fenced: what they touch lies where it may, for every function that they
 * reach, and every loop ends once the stop word says so. It trusts nothing but the words that the loader fills, and takes no hint from the
 * writer of the text. A kernel that is not shown to be fenced is rejected, which does not say that it is wrong. Time and memory grow with
 * the text, and steps that could be more are counted for all of a text ({@link WorkBudget}); nothing recurses. Stateless.
 */
public final class FenceVerifier {
    /** Longest text that is read. */
    public static final int MOST_BYTES = 256 << 20;

    private FenceVerifier() {
    }

    /**
     * Verifies a text.
     *
     * @param text   PTX, as the rewriter writes it
     * @param mode   the fence mode that it declares
     * @param linked whether it is linked with others that are verified in the same way
     * @throws UnverifiedException if it is not such a text, or has a declaration that is not permitted in fenced text: then nothing of it must be
     * loaded
     */
    public static Verdict verify(byte[] text, Mode mode, boolean linked) throws UnverifiedException {
        return verify(text, mode, linked, WorkBudget.ofBytes(text.length));
    }

    /** As above, with a given budget of work. */
    static Verdict verify(byte[] text, Mode mode, boolean linked, WorkBudget work) throws UnverifiedException {
        if (text.length > MOST_BYTES) {
            throw new UnverifiedException(0, "a text of " + text.length + " bytes");
        }
        try {
            PtxModule module = PtxParser.parse(text);
            return new Run(module, new ModuleNames(module, mode, linked), work).verdict();
        } catch (PtxException e) {
            throw new UnverifiedException(e.line(), e.getMessage());
        } catch (RuntimeException e) {
            throw new UnverifiedException(0, "is not understood: " + e);
        }
    }

    /** Verification of one module. */
    private static final class Run {
        private final PtxModule read;
        private final ModuleNames module;
        private final Map<String, UnverifiedException> refused = new HashMap<>();
        private final Given given;
        private final WorkBudget work;
        private final Set<String> shared = new LinkedHashSet<>();
        private final Set<String> looking = new HashSet<>();
        private final Map<String, WorkBetweenLooks> between = new HashMap<>();
        private final Map<String, Long> blocks = new HashMap<>();
        private final Set<String> addresses = new LinkedHashSet<>();

        private Run(PtxModule read, ModuleNames module, WorkBudget work) {
            this.work = work;
            this.read = read;
            this.module = module;
            this.given = new Given(module.linked());
        }

        private Verdict verdict() throws UnverifiedException {
            Reach reach = new Reach(module);
            for (String name : reach.callersFirst()) {
                function(module.functions.get(name));
            }
            if (module.mode() != Mode.NONE) {
                new CallTrees(module, looking, between, blocks).check(reach.callersFirst().reversed(), refused);
            }
            reach.found(refused, shared);
            List<String> accepted = new ArrayList<>();
            Map<String, UnverifiedException> rejected = new LinkedHashMap<>();
            Set<String> clusters = new LinkedHashSet<>();
            for (PtxFunction function : module.functions.values()) {
                UnverifiedException why = reach.refusal(function.name());
                if (function.kind() != PtxFunction.Kind.ENTRY || function.body().isEmpty()) {
                    if (why != null && module.linked()) {
                        throw why;
                    }
                    continue;
                }
                boolean blocks = reach.reachesNamed(function.name());
                boolean needsCluster = function.attribute("reqnctapercluster").isPresent() || function.attribute("explicitcluster").isPresent();
                if (why == null && blocks && needsCluster && !module.isClustered() && module.mode() != Mode.NONE) {
                    why = new UnverifiedException(function.line(), "shared memory of a kernel that is launched in clusters");
                }
                if (why != null) {
                    rejected.put(function.name(), why);
                    continue;
                }
                accepted.add(function.name());
                if ((!blocks || module.isClustered()) && !module.linked()) {
                    clusters.add(function.name());
                }
            }
            return new Verdict(text(rejected.keySet()), accepted, rejected, addresses, clusters, module.reachesBlocks(), refused.keySet(),
                    module.linked() ? new LinkInterface(module, shared, rejected.keySet()) : null);
        }

        private String text(Set<String> without) {
            List<Directive> left = read.directives().stream()
                    .filter(each -> !(each instanceof PtxFunction function && without.contains(function.name()))).toList();
            return PtxPrinter.print(new PtxModule(read.version(), read.targets(), read.addressBits(), left));
        }

        private void function(PtxFunction function) {
            try {
                Body body = new Body(module.reachesBlocks(function) ? ClusterEnds.without(function) : function, module);
                FunctionCheck check = new FunctionCheck(body, module, given, work);
                check.check();
                if (check.touchesShared()) {
                    shared.add(function.name());
                }
                if (check.looks()) {
                    looking.add(function.name());
                }
                between.put(function.name(), check.between());
                blocks.put(function.name(), check.blocks());
                addresses.addAll(check.addresses());
            } catch (UnverifiedException e) {
                refused.put(function.name(), e);
            } catch (WorkBudget.SpentException e) {
                refused.put(function.name(), new UnverifiedException(function.line(), "'" + function.name() + "' " + e.getMessage()));
            } catch (RuntimeException e) {
                // An unforeseen text: code that is not understood is not accepted.
                refused.put(function.name(), new UnverifiedException(function.line(), "'" + function.name() + "' is not understood: " + e));
            }
        }
    }
}
