package io.tessera.software.compile;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.util.ArrayList;
import java.util.List;

/** Objects that generated code refers to, handed over as the hidden class's data. */
final class ClassConstants {
    private final List<Object> values = new ArrayList<>();

    /** Pushes an object; the JIT compiler sees it as a constant. */
    <T> void push(CodeBuilder code, T value, Class<T> type) {
        values.add(value);
        code.loadConstant(DynamicConstantDesc.ofNamed(ConstantDescs.BSM_CLASS_DATA_AT, ConstantDescs.DEFAULT_NAME,
                CallEmitter.of(type), values.size() - 1));
    }

    /** Returns all constants, in the order of their first use. */
    List<Object> values() {
        return List.copyOf(values);
    }
}
