package io.tessera.guardian.ptx.parse;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The opcodes of PTX ISA 9.0, deprecated ones included: the word before the first dot of every instruction in its
 * chapter "Instructions", by the chapter's sections. Stateless.
 */
public final class Opcodes {
    private static final String INTEGER = "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns "
            + "brev bfe bfi bmsk szext dp4a dp2a addc subc madc";
    private static final String FLOATING_POINT = "testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh";
    private static final String COMPARISON = "set setp selp slct";
    private static final String LOGIC = "and or xor not cnot lop3 shf shl shr";
    private static final String MOVEMENT = "mov shfl prmt ld ldu st multimem prefetch prefetchu isspacep cvta cvt mapa "
            + "getctarank cp applypriority discard createpolicy tensormap";
    private static final String TEXTURES = "tex tld4 txq istypep suld sust sured suq";
    private static final String CONTROL = "bra brx call ret exit";
    private static final String SYNCHRONISATION = "bar barrier membar fence atom red vote match activemask redux "
            + "griddepcontrol elect mbarrier clusterlaunchcontrol";
    private static final String MATRICES = "wmma mma ldmatrix stmatrix movmatrix wgmma tcgen05";
    private static final String STACK = "stacksave stackrestore alloca";
    private static final String VIDEO = "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 "
            + "vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4";
    private static final String OTHERS = "brkpt nanosleep pmevent trap setmaxnreg";

    private static final Map<String, String> ALL = Arrays.stream(String.join(" ", INTEGER, FLOATING_POINT, COMPARISON, LOGIC,
            MOVEMENT, TEXTURES, CONTROL, SYNCHRONISATION, MATRICES, STACK, VIDEO, OTHERS).split(" "))
            .map(String::intern).collect(Collectors.toUnmodifiableMap(opcode -> opcode, opcode -> opcode));

    private Opcodes() {
    }

    /** All opcodes. */
    public static Set<String> names() {
        return ALL.keySet();
    }

    /** Returns the opcode as an interned string, since interned strings compare fastest; null if the word is not an opcode. */
    static String literal(String opcode) {
        return ALL.get(opcode);
    }
}
