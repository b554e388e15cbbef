package io.tessera.software.compile;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;

/** Emits calls and field accesses by Java's own class objects, so that a renamed target fails in a test, not in use. */
final class CallEmitter {
    private CallEmitter() {
    }

    /** Descriptor of a class. */
    static ClassDesc of(Class<?> type) {
        return type.describeConstable().orElseThrow();
    }

    private static MethodTypeDesc signature(Class<?> result, Class<?>... parameters) {
        return MethodTypeDesc.of(of(result), Arrays.stream(parameters).map(CallEmitter::of).toList());
    }

    /** Calls a static method. */
    static void invoke(CodeBuilder code, Class<?> owner, String name, Class<?> result, Class<?>... parameters) {
        code.invokestatic(of(owner), name, signature(result, parameters), owner.isInterface());
    }

    /** Calls a method of an object. */
    static void invokeVirtual(CodeBuilder code, Class<?> owner, String name, Class<?> result,
            Class<?>... parameters) {
        code.invokevirtual(of(owner), name, signature(result, parameters));
    }

    /** Replaces an object by the value of its field. */
    static void get(CodeBuilder code, Class<?> owner, String name, Class<?> type) {
        code.getfield(of(owner), name, of(type));
    }

    /** Stores into a field of an object. */
    static void put(CodeBuilder code, Class<?> owner, String name, Class<?> type) {
        code.putfield(of(owner), name, of(type));
    }

    /** Pushes a constant of an enum. */
    static void push(CodeBuilder code, Enum<?> constant) {
        ClassDesc owner = of(constant.getDeclaringClass());
        code.getstatic(owner, constant.name(), owner);
    }

    /** Returns the name of constructors. */
    static String constructor() {
        return ConstantDescs.INIT_NAME;
    }
}
