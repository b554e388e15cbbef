package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.Opcodes;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tree of single forms, part by part. */
@Timeout(180)
class ParserTest {
    private static List<Statement> statements(String text) throws PtxException {
        return PtxParser.parse(Samples.kernel(text)).entry("k").orElseThrow().body().orElseThrow().statements().stream()
                .filter(statement -> !(statement instanceof RegisterDeclaration)).toList();
    }

    private static Instruction instruction(String text) throws PtxException {
        return (Instruction) statements(text).getFirst();
    }

    private static Operand operand(String text) throws PtxException {
        return instruction("cvta.u64 %r0, " + text + ";").operands().get(1);
    }

    private static Operand register(String name) {
        return new Operand.Register(name);
    }

    private static Variable variable(String text) throws PtxException {
        return PtxParser.parse(".version 8.3\n.target sm_80\n.address_size 64\n" + text).variables().getLast();
    }

    @Test
    void anAccessHasGuardModifiersAndAddress() throws PtxException {
        Instruction load = instruction("@!p1 ld.relaxed.gpu.global.L1::evict_last.v2.b32 {%r1, _}, [%rd2+-16];");
        assertEquals(Optional.of(new Guard(new Operand.Register("%p0"), true)), load.guard());
        assertEquals("ld", load.opcode());
        assertEquals(List.of("relaxed", "gpu", "global", "L1::evict_last", "v2", "b32"), load.modifiers());
        assertEquals(List.of(new Operand.Vector(List.of(register("%r0"), new Operand.Sink())),
                new Operand.Address(new Operand.Register("%rd0"), -16)), load.operands());
        assertEquals(Optional.of(StateSpace.GLOBAL), load.space());
        assertEquals(List.of(ScalarType.B32), load.types());
        assertEquals(2, load.vectorLength());
        assertTrue(load.has("L1::evict_last"));
        assertFalse(load.has("volatile"));
        assertEquals(10, load.line());
        assertEquals("@!%p0 ld.relaxed.gpu.global.L1::evict_last.v2.b32 {%r0, _}, [%rd0+-16];",
                PtxPrinter.print(load));
    }

    @Test
    void spacesWithQualifiersAreTheirSpaces() throws PtxException {
        assertEquals(Optional.of(StateSpace.SHARED), instruction("st.shared::cta.b32 [%rd1], a;").space());
        assertEquals(Optional.of(StateSpace.SHARED), instruction("mapa.shared::cluster.u64 %rd1, %rd2, a;").space());
        assertEquals(Optional.empty(), instruction("st.volatile.b32 [%rd1], a;").space());
    }

    @Test
    void typesComeInOrder() throws PtxException {
        Instruction convert = instruction("cvt.rn.f32.s64 %r1, %rd1;");
        assertEquals(List.of(ScalarType.F32, ScalarType.S64), convert.types());
        assertEquals(Optional.of(ScalarType.S64), convert.type());
        assertEquals("cvt.rn.f32.s64", convert.mnemonic());
    }

    @Test
    void constantsKeepTheirBits() throws PtxException {
        assertEquals(new Operand.Immediate(255, false), operand("0xFF"));
        assertEquals(new Operand.Immediate(5, true), operand("5U"));
        assertEquals(new Operand.Immediate(8, false), operand("010"));
        assertEquals(new Operand.Immediate(5, false), operand("0b101"));
        assertEquals(new Operand.Immediate(-1, true), operand("18446744073709551615"));
        assertEquals(new Operand.Immediate(Long.MIN_VALUE, true), operand("-9223372036854775808"));
        assertEquals(new Operand.Float32(0x3F800000), operand("0f3F800000"));
        assertEquals(new Operand.Float32(0xBF800000), operand("-0f3f800000"));
        assertEquals(new Operand.Float64(0x3FF8000000000000L), operand("1.5"));
        assertEquals(new Operand.Float64(Double.doubleToRawLongBits(-2.5e-3)), operand("-2.5e-3"));
        assertEquals(new Operand.Float64(0x7FF0000000000000L), operand("0d7FF0000000000000"));
    }

    /** As in ptxas 13.0. */
    @Test
    void constantExpressionsAreEvaluated() throws PtxException {
        String[][] cases = {{"1+2*3", "7"}, {"(1+2)*3", "9"}, {"-4/3", "-1"}, {"7 % 4", "3"}, {"1<<4|1", "17"},
                {"~0", "-1"}, {"!0 + !5", "1"}, {"-1 >> 1", "-1"}, {"0xFFFFFFFFFFFFFFFF >> 60", "15"}, {"3 > 2 ? 10 : 20",
                        "10"},
                {"1 == 1 && 2 != 2 || 4 >= 4", "1"}, {"(.u64)-1 / 2", "9223372036854775807"}, {"6 & 3 ^ 8", "10"},
                {"2 - 3 - 4", "-5"}, {"-(1 + 2)", "-3"}, {"-5 + 3", "-2"}, {"1 << 64", "1"}, {"1 << -1", "-9223372036854775808"},
                {"1 >> 64", "1"}, {"-1 >> -1", "-1"}, {"-1U >> 1", "9223372036854775807"}, {"-(1U) >> 1", "9223372036854775807"}, {"-1U < 1", "0"},
                {"-5 % 3", "2"}, {"(5 % 3) - 3 >> 1", "9223372036854775807"}, {"~0 >> 1", "9223372036854775807"}, {"(-1 & -1) >> 1", "-1"},
                {"-9223372036854775808 / -1", "0"}, {"(1 >> 0U) - 2 >> 1", "-1"}, {"(1U >> 0) - 2 >> 1", "9223372036854775807"}, {"5%-3", "5"},
                {"5%(3)", "2"},
                {"5% 3", "2"}};
        for (String[] pair : cases) {
            assertEquals(Long.parseLong(pair[1]), ((Operand.Immediate) operand(pair[0])).value(), pair[0]);
        }
    }

    @Test
    void namesAreResolved() throws PtxException {
        assertEquals(new Operand.SpecialRegister("%tid", "x"), operand("%tid.x"));
        assertEquals(new Operand.SpecialRegister("%laneid", ""), operand("%laneid"));
        assertEquals(register("%r1"), operand("%r8"));
        assertEquals(register("%r1"), operand("%r08"));
        assertEquals(new Operand.Component("%r1", "h1"), operand("a.h1"));
        assertEquals(new Operand.Symbol("word", 8), operand("word+8"));
        assertEquals(new Operand.Symbol("k", 0), operand("k"));
        assertEquals(new Operand.Immediate(32, false), operand("WARP_SZ"));
        assertEquals(new Operand.Address(new Operand.Named("word"), 4), operand("[word+4]"));
        assertEquals(new Operand.Address(new Operand.Immediate(64, false), 0), operand("[64]"));
        assertEquals(new Operand.CompoundAddress(List.of(register("%rd0"), new Operand.Vector(List.of(register("%r1"),
                new Operand.Immediate(1, false))))), operand("[%rd1, {a, 1}]"));
    }

    @Test
    void resultsComeInPairsAndPredicatesNegated() throws PtxException {
        Instruction compare = instruction("setp.lt.and.u32 p1|_, a, -3, !p2;");
        assertEquals(new Operand.Pair(register("%p0"), new Operand.Sink()), compare.operands().getFirst());
        assertEquals(new Operand.Immediate(0xFFFF_FFFDL, false), compare.operands().get(2));
        assertEquals(new Operand.Not(register("%p1")), compare.operands().get(3));
        assertEquals(new Operand.Minus(register("%r0")), instruction("vmad.s32.s32.s32 a, a, a, -a;").operands().get(3));
    }

    @Test
    void callsHaveArgumentLists() throws PtxException {
        List<Statement> found = statements("""
                .param .b32 x, y;
                proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
                call.uni (x), %rd1, (y), proto;
                call k, ();
                call k;""");
        CallPrototype prototype = (CallPrototype) found.get(2);
        assertEquals("noreturn", prototype.attributes().getFirst().name());
        assertEquals(ScalarType.B64, prototype.parameters().getFirst().type());
        assertEquals("$L0", prototype.name());
        assertEquals(List.of(new Operand.Arguments(List.of(new Operand.Symbol("$v1", 0))), register("%rd0"),
                new Operand.Arguments(List.of(new Operand.Symbol("$v2", 0))), new Operand.Symbol("$L0", 0)),
                ((Instruction) found.get(3)).operands());
        assertEquals(List.of(new Operand.Symbol("k", 0), new Operand.Arguments(List.of())),
                ((Instruction) found.get(4)).operands());
        assertEquals(List.of(new Operand.Symbol("k", 0)), ((Instruction) found.get(5)).operands());
    }

    @Test
    void linesOfInlinedCodeAreKept() throws PtxException {
        Location location = (Location) statements(".loc 1 9 3, function_name $name+4, inlined_at 2 30 1").getFirst();
        assertEquals(Optional.of(new Location.Inlined("$name", 4, 2, 30, 1)), location.inlined());
        assertEquals(9, location.sourceLine());
    }

    @Test
    void variablesHaveTypesDimensionsAndContents() throws PtxException {
        Variable table = variable(".visible .const .align 16 .v2 .u16 t[2][3] = {{1, 2}, {0xFFFF}};");
        assertEquals(Linkage.VISIBLE, table.linkage());
        assertEquals(StateSpace.CONST, table.space());
        assertEquals(List.of(2L, 3L), table.dimensions());
        assertEquals(24, table.sizeBytes());
        assertEquals(16, table.alignment());
        Variable pointers = variable(".global .u32 x; .global .u64 p[3] = {generic(x)+8, x+4, 0xFF00(x)};");
        assertEquals(new Initializer.Aggregate(List.of(new Initializer.AddressOf("x", 8, true, 0),
                new Initializer.AddressOf("x", 4, false, 0), new Initializer.AddressOf("x", 0, false, 0xFF00))),
                pointers.initializer().orElseThrow());
        Variable open = variable(".extern .shared .b8 buffer[];");
        assertEquals(List.of(Variable.UNSIZED), open.dimensions());
        assertEquals(0, open.sizeBytes());
        assertEquals(1, open.alignment());
        assertEquals(List.of("managed"), variable(".global .attribute(.managed) .u32 m;").attributes());
    }

    @Test
    void heads() throws PtxException {
        PtxModule module = PtxParser.parse(".version 9.0\n.target sm_90a, debug\n.address_size 64\n"
                + ".weak .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])\n"
                + ".maxntid 128, 2\n.minnctapersm 3\n{ ret; }\n.func (.param .b32 r) f(.param .b32 a) .noreturn;");
        PtxFunction kernel = module.entry("k").orElseThrow();
        assertEquals(Linkage.WEAK, kernel.linkage());
        assertEquals(List.of(128L, 2L), kernel.attribute("maxntid").orElseThrow().numbers());
        assertEquals(Optional.of(new Variable.Pointer(Optional.of(StateSpace.GLOBAL), 16)),
                kernel.parameters().getFirst().pointer());
        assertEquals(24, kernel.parameters().get(1).sizeBytes());
        assertEquals(Optional.empty(), module.functions().get(1).body());
        assertEquals(List.of("sm_90a", "debug"), module.targets());
        assertEquals(new PtxVersion(9, 0), module.version());
        assertEquals(Optional.empty(), module.entry("f"));
    }

    @Test
    void aNulEndsTheText() throws PtxException {
        assertEquals(1, PtxParser.parse(Samples.kernel("ret;") + "\0garbage").functions().size());
    }

    @Test
    void everyOpcodeIsRead() throws PtxException {
        for (String opcode : Opcodes.names()) {
            assertEquals(opcode, instruction(opcode + ".b32 %r1;").opcode());
        }
    }
}
