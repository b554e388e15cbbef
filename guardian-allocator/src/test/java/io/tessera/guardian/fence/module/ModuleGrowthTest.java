package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.lang.management.ManagementFactory;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The work to fence a module grows as the number of its functions: allocated bytes are counted, which do not depend on the machine. */
@Timeout(300)
class ModuleGrowthTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int FEW = 250;
    private static final int TIMES = 16;
    private static final double MOST_TIMES = 1.4 * TIMES;
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\nret;\n}\n";
    private static final String[] TYPES = {"b8", "b16", "b32", "b64"};
    private static final int PARAMETERS = 6;

    /** Modules of many functions. */
    enum Shape {
        /** Each stores into a variable of its own. */
        VARIABLES {
            @Override
            String function(int i) {
                return ".global .u32 v" + i + ";\n.visible .entry k" + i + "()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 1;\nst.global.u32 [v" + i
                        + "], %r1;\nret;\n}\n";
            }
        },
        /** Each calls itself. */
        RECURSIVE {
            @Override
            String function(int i) {
                return ".func f" + i + "()\n{\ncall f" + i + ";\nret;\n}\n";
            }
        },
        /** Each calls itself by a pointer, of a signature of its own. */
        RECURSIVE_BY_POINTERS {
            @Override
            String function(int i) {
                StringBuilder parameters = new StringBuilder();
                StringBuilder prototype = new StringBuilder();
                StringBuilder arguments = new StringBuilder();
                StringBuilder declared = new StringBuilder();
                for (int j = 0; j < PARAMETERS; j++) {
                    String type = (j == 0 ? "" : ", ") + ".param ." + TYPES[i >> 2 * j & 3];
                    parameters.append(type).append(" p").append(j);
                    prototype.append(type).append(" _");
                    arguments.append(j == 0 ? "a" : ", a").append(j);
                    declared.append(".param .").append(TYPES[i >> 2 * j & 3]).append(" a").append(j).append("; ");
                }
                return ".func f" + i + "(" + parameters + ");\n.global .u64 t" + i + " = f" + i + ";\n.func f" + i + "(" + parameters
                        + ")\n{\n.reg .b64 %d<2>;\nld.global.u64 %d1, [t" + i + "];\n{ " + declared + "q: .callprototype _ (" + prototype
                        + "); call %d1, (" + arguments + "), q; }\nret;\n}\n";
            }
        };

        abstract String function(int i);
    }

    private static PtxModule module(Shape shape, int functions) throws Exception {
        StringBuilder text = new StringBuilder(HEAD);
        for (int i = 0; i < functions; i++) {
            text.append(shape.function(i));
        }
        return PtxParser.parse(text.toString());
    }

    private static FencedModule fenced(PtxModule module) throws Exception {
        return new Fencer(FenceMode.MASK).fence(module);
    }

    private static long allocated(Shape shape, int functions) throws Exception {
        PtxModule module = module(shape, functions);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        fenced(module);
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    @ParameterizedTest
    @EnumSource
    void manyFunctionsTakeMemoryInProportion(Shape shape) throws Exception {
        fenced(module(shape, FEW)); // tables that are made once
        long few = allocated(shape, FEW);
        long many = allocated(shape, TIMES * FEW);
        assertTrue(many < MOST_TIMES * few, () -> few + " bytes for " + FEW + " functions, " + many + " for " + TIMES + " times as many");
    }

    /** More than are refused one at a time. */
    @ParameterizedTest
    @EnumSource(names = {"RECURSIVE", "RECURSIVE_BY_POINTERS"})
    void ofManyRecursiveFunctionsNoneIsLeft(Shape shape) throws Exception {
        FencedModule fenced = fenced(module(shape, FEW));
        assertEquals(Set.of(), fenced.refused().keySet(), "kernels");
        assertEquals(0, fenced.module().functions().stream().filter(function -> function.name().startsWith("f")).count());
        assertTrue(fenced.module().entry("k").isPresent());
    }
}
