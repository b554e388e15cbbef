package io.tessera.nvidia;

import static java.lang.constant.ConstantDescs.CD_Class;
import static java.lang.constant.ConstantDescs.CD_MethodHandle;
import static java.lang.constant.ConstantDescs.CD_MethodHandles_Lookup;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.DEFAULT_NAME;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import io.tessera.device.EntryDescription;
import io.tessera.device.ParameterDescription;
import io.tessera.device.ParameterDescription.Floating;
import io.tessera.device.ParameterDescription.Opaque;
import io.tessera.device.ParameterDescription.Shape;
import io.tessera.device.ParameterDescription.Structure;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Makes {@link EntryCall}s from entries' addresses and descriptions. Stateless except for the classes that it has made. Thread-safe.
 *
 * <p>A call goes through a hidden class with the downcall as its constant: a method handle that is read from an array is not a constant for the JVM, which
 * calls it through interpreted or generic code until it is specialised after many calls. There is one class for all entries with the same kinds of parameters,
 * which takes the address as an argument: until the JVM has compiled a class, after some 10,000 calls, each call costs some 0.8 µs more, and few entries are
 * called so often.
 *
 * <p>Every argument in a general register is declared as a 64-bit integer, pointers too: System V psABI 3.2.3 passes them alike, and the slots hold what the
 * ABI asks for. No call is declared {@code critical}: any entry may wait for a lock of the driver or for room in a queue, and a thread that does so without a
 * transition would stop the JVM's safepoints.
 */
final class EntryBinder {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final ClassDesc SEGMENT = ClassDesc.of(MemorySegment.class.getName());
    private static final ClassDesc LONG_LAYOUT = ValueLayout.OfLong.class.describeConstable().orElseThrow();
    private static final ClassDesc LAYOUTS = ClassDesc.of(ValueLayout.class.getName());
    private static final ClassDesc CALL = ClassDesc.of(ShapedCall.class.getName());
    private static final ClassDesc ARGUMENTS = ClassDesc.of(EntryArguments.class.getName());
    private static final ClassDesc MADE = ClassDesc.of(EntryBinder.class.getPackageName() + ".EntryOfShape");
    private static final DirectMethodHandleDesc CLASS_DATA = MethodHandleDesc.ofMethod(
            DirectMethodHandleDesc.Kind.STATIC, ClassDesc.of(MethodHandles.class.getName()), "classData",
            MethodTypeDesc.of(CD_Object, CD_MethodHandles_Lookup, CD_String, CD_Class));
    private static final DynamicConstantDesc<MethodHandle> DOWNCALL = DynamicConstantDesc.ofNamed(CLASS_DATA, DEFAULT_NAME, CD_MethodHandle);

    /** More calls than the JVM counts before it compiles a method at its highest tier (Tier4InvocationThreshold, 5000), with time to do so. */
    private static final int WARM_CALLS = 20_000;
    /** Parameters of cuLaunchKernel, the maximum of all frequently called entries. */
    private static final int MOST_WARMED = 11;
    private static final Map<List<String>, ShapedCall> SHAPED = new ConcurrentHashMap<>();

    private EntryBinder() {
    }

    /** A call by the class of a shape; the address may be of any entry with such parameters. */
    @FunctionalInterface
    interface ShapedCall {
        int call(MemorySegment address, MemorySegment slots) throws Throwable;
    }

    /** An entry that was found. */
    record BoundEntry(ShapedCall shape, MemorySegment address) implements EntryCall {
        @Override
        public int call(MemorySegment slots) throws Throwable {
            return shape.call(address, slots);
        }
    }

    /** Returns the call of an entry, whose parameters must be known. */
    static EntryCall bind(MemorySegment address, EntryDescription description) {
        return new BoundEntry(shaped(description.parameters().stream().map(ParameterDescription::shape).toList()), address);
    }

    /** Has the JVM compile the calls of the usual shapes, as long as {@code goOn} returns true; takes some tenths of a second. */
    static void warm(BooleanSupplier goOn) {
        MemorySegment harmless = LINKER.defaultLookup().find("labs").orElseThrow(); // reads only its first argument
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment slots = arena.allocate(ValueLayout.JAVA_LONG, MOST_WARMED);
            for (int count = 1; count <= MOST_WARMED; count++) {
                EntryCall call = new BoundEntry(shaped(Collections.nCopies(count, new Opaque(false))), harmless);
                for (int i = 0; i < WARM_CALLS && (i % 1000 != 0 || goOn.getAsBoolean()); i++) {
                    call.call(slots);
                }
            }
        } catch (Throwable e) {
            throw new IllegalStateException("a function of the C library threw", e);
        }
    }

    private static ShapedCall shaped(List<Shape> shapes) {
        return SHAPED.computeIfAbsent(shapes.stream().map(EntryBinder::read).toList(), _ -> make(shapes));
    }

    /** Returns the code that reads an argument from its slot. */
    private static String read(Shape shape) {
        return switch (shape) {
            case Floating _ -> "float";
            case Structure structure when inMemory(structure) -> structure.bytes() + " bytes";
            case Structure _ -> "behind";
            default -> "long";
        };
    }

    private static ShapedCall make(List<Shape> shapes) {
        MethodHandle downcall = LINKER.downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT,
                shapes.stream().map(EntryBinder::layout).toArray(MemoryLayout[]::new)));
        byte[] bytes = write(shapes, downcall.type());
        try {
            MethodHandles.Lookup made = LOOKUP.defineHiddenClassWithClassData(bytes, downcall, true);
            return (ShapedCall) made.findConstructor(made.lookupClass(), MethodType.methodType(void.class)).invoke();
        } catch (Throwable e) {
            throw new IllegalStateException("no class for calls with " + shapes, e);
        }
    }

    private static byte[] write(List<Shape> shapes, MethodType downcall) {
        return ClassFile.of().build(MADE, made -> made
                .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER)
                .withInterfaceSymbols(CALL)
                .withMethodBody(INIT_NAME, MethodTypeDesc.of(CD_void), 0, code -> code.aload(0)
                        .invokespecial(CD_Object, INIT_NAME, MethodTypeDesc.of(CD_void)).return_())
                .withMethodBody("call", MethodTypeDesc.of(CD_int, SEGMENT, SEGMENT), ClassFile.ACC_PUBLIC, code -> {
                    code.loadConstant(DOWNCALL).aload(1);
                    for (int i = 0; i < shapes.size(); i++) {
                        argument(code, shapes.get(i), (long) i * Long.BYTES);
                    }
                    code.invokevirtual(CD_MethodHandle, "invokeExact", downcall.describeConstable().orElseThrow())
                            .ireturn();
                }));
    }

    private static void argument(CodeBuilder code, Shape shape, long offset) {
        code.aload(2);
        switch (shape) {
            case Floating _ -> code.loadConstant(offset).invokestatic(ARGUMENTS, "floating",
                    MethodTypeDesc.of(CD_float, SEGMENT, CD_long));
            case Structure structure when inMemory(structure) -> code.loadConstant(offset)
                    .loadConstant((long) structure.bytes())
                    .invokestatic(ARGUMENTS, "bytes", MethodTypeDesc.of(SEGMENT, SEGMENT, CD_long, CD_long));
            case Structure _ -> code.loadConstant(offset).invokestatic(ARGUMENTS, "behind",
                    MethodTypeDesc.of(CD_long, SEGMENT, CD_long));
            default -> code.getstatic(LAYOUTS, "JAVA_LONG", LONG_LAYOUT).loadConstant(offset)
                    .invokeinterface(SEGMENT, "get", MethodTypeDesc.of(CD_long, LONG_LAYOUT, CD_long));
        }
    }

    private static MemoryLayout layout(Shape shape) {
        return switch (shape) {
            case Floating _ -> ValueLayout.JAVA_FLOAT;
            case Structure structure when inMemory(structure) ->
                MemoryLayout.structLayout(MemoryLayout.sequenceLayout(structure.bytes(), ValueLayout.JAVA_BYTE));
            case Structure structure when structure.argumentClass().equals("i")
                    && structure.bytes() == Long.BYTES ->
                ValueLayout.JAVA_LONG;
            case Structure structure -> throw new IllegalArgumentException(
                    "no entry took a structure like this by value before: " + structure);
            default -> ValueLayout.JAVA_LONG;
        };
    }

    private static boolean inMemory(Structure structure) {
        return structure.argumentClass().equals("m");
    }
}
