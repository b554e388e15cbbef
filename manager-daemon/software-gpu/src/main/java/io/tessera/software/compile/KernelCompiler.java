package io.tessera.software.compile;

import io.tessera.software.compile.flat.InlinedCode;
import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.interpret.InstructionCheck;
import io.tessera.software.program.Kernel;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.LongSupplier;

/**
 * Compiles kernels to JVM bytecode: one hidden class each, with one method that is the kernel as a state machine. Kernels that it cannot
 * compile go to another translator, the interpreter, and are counted with the reason. Thread-safe.
 *
 * <p>Large kernels make large methods: run the JVM with {@code -XX:-DontCompileHugeMethods}, or those beyond 8000 bytes
 * of bytecode stay in the JVM's own interpreter.
 */
public final class KernelCompiler implements KernelTranslator {
    /** System property that sends every kernel to the interpreter: {@code -Dtessera.software.interpret=true}. */
    public static final String INTERPRET_PROPERTY = "tessera.software.interpret";

    private final KernelTranslator interpreter;
    private final LongSupplier nanoTime;
    private final CompilationCounters counters = new CompilationCounters();

    /**
     * Prepares.
     *
     * @param interpreter takes what cannot be compiled
     * @param nanoTime    clock for the time that compiling takes, in nanoseconds
     */
    public KernelCompiler(KernelTranslator interpreter, LongSupplier nanoTime) {
        this.interpreter = interpreter;
        this.nanoTime = nanoTime;
    }

    /** Counts of compiled kernels and of others, so far. */
    public CompilationCounters counters() {
        return counters;
    }

    @Override
    public ThreadProgram translate(Kernel kernel, SymbolAddresses addresses) {
        if (Boolean.getBoolean(INTERPRET_PROPERTY)) {
            counters.interpreted(kernel.name(), "by request");
            return interpreter.translate(kernel, addresses);
        }
        InstructionCheck.check(kernel);
        long begin = nanoTime.getAsLong();
        try {
            ClassConstants constants = new ClassConstants();
            byte[] bytes = bytecode(kernel, addresses, constants);
            ThreadProgram program = load(bytes, constants);
            counters.compiled(kernel.name(), bytes.length, nanoTime.getAsLong() - begin);
            return program;
        } catch (NotCompiledException e) {
            counters.interpreted(kernel.name(), e.getMessage());
            return interpreter.translate(kernel, addresses);
        }
    }

    /**
     * Returns the class file for a kernel.
     *
     * @throws NotCompiledException if it cannot be compiled
     */
    static byte[] bytecode(Kernel kernel, SymbolAddresses addresses, ClassConstants constants) {
        InlinedCode flat = InlinedCode.of(kernel);
        ClassDesc name = ClassDesc.of(KernelCompiler.class.getPackageName(), "CompiledKernel");
        MethodTypeDesc run = MethodTypeDesc.of(ConstantDescs.CD_void, CallEmitter.of(ThreadState[].class),
                CallEmitter.of(byte[].class), ConstantDescs.CD_int, ConstantDescs.CD_int);
        try {
            return ClassFile.of().build(name, type -> type
                    .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC)
                    .withInterfaceSymbols(CallEmitter.of(ThreadProgram.class))
                    .withMethodBody(ConstantDescs.INIT_NAME, ConstantDescs.MTD_void, 0, code -> code.aload(0)
                            .invokespecial(ConstantDescs.CD_Object, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                            .return_())
                    .withMethodBody("run", run, ClassFile.ACC_PUBLIC,
                            code -> new KernelWriter(code, kernel, flat, addresses, constants).write()));
        } catch (IllegalArgumentException e) {
            // Limits of the class file format: a method over 64 KB, a jump or constant out of reach.
            throw new NotCompiledException("too large for a method: " + e.getMessage());
        }
    }

    private static ThreadProgram load(byte[] bytes, ClassConstants constants) {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup().defineHiddenClassWithClassData(bytes,
                    constants.values(), true);
            return (ThreadProgram) lookup.findConstructor(lookup.lookupClass(),
                    MethodType.methodType(void.class)).invoke();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("cannot load a compiled kernel", e);
        }
    }
}
