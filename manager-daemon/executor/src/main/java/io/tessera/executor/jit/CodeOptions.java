package io.tessera.executor.jit;

import io.tessera.device.CudaEnums.JitOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Options of a program's JIT that change the code and are passed to a compiler. Options for optimisation and debugging are not passed on: in
 * debug code, stack frames have another layout and contain return addresses, so that fences that were verified for other code might not
 * hold. Immutable.
 *
 * @param numbers CUjit_option
 * @param values  as many
 */
public record CodeOptions(List<Integer> numbers, List<Long> values) {
    private static final List<Integer> CODE = List.of(JitOption.MAX_REGISTERS, JitOption.THREADS_PER_BLOCK, JitOption.GENERATE_LINE_INFO,
            JitOption.CACHE_MODE);

    /** Copies the lists. */
    public CodeOptions {
        numbers = List.copyOf(numbers);
        values = List.copyOf(values);
    }

    /** Returns an instance without options. */
    public static CodeOptions none() {
        return new CodeOptions(List.of(), List.of());
    }

    /** Returns those options of a program that are passed on. */
    public static CodeOptions of(List<Integer> numbers, List<Long> values) {
        List<Integer> code = new ArrayList<>();
        List<Long> of = new ArrayList<>();
        for (int i = 0; i < numbers.size(); i++) {
            if (CODE.contains(numbers.get(i))) {
                code.add(numbers.get(i));
                of.add(values.get(i));
            }
        }
        return new CodeOptions(code, of);
    }

    /** Returns whether the options limit the registers of a thread. */
    public boolean limitRegisters() {
        return numbers.contains(JitOption.MAX_REGISTERS) || numbers.contains(JitOption.THREADS_PER_BLOCK);
    }

    /** Returns the same options, which have no limit yet, with a limit on the registers of a thread. */
    public CodeOptions withRegisters(int most) {
        List<Integer> more = new ArrayList<>(numbers);
        List<Long> of = new ArrayList<>(values);
        more.add(JitOption.MAX_REGISTERS);
        of.add((long) most);
        return new CodeOptions(more, of);
    }

    /** Returns the options as part of a cache's key; empty for none. */
    public String key() {
        StringBuilder key = new StringBuilder();
        for (int i = 0; i < numbers.size(); i++) {
            key.append(i == 0 ? "" : " ").append("jit").append(numbers.get(i)).append('=').append(values.get(i));
        }
        return key.toString();
    }
}
