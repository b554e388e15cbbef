package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What is taken for granted of all launches of a kernel, told by the instructions that read it: whoever launches code that was fenced
 * with it has looked at each launch, and launches nothing else. Instructions are told apart by identity. Immutable as long as nobody
 * writes to what it was made of.
 *
 * @param most    the greatest number, without sign, that an instruction reads from a special register or an integer parameter; at
 *                least 0
 * @param windows instructions that read a parameter, of 64 bits, which is an address inside the tenant's window, and is aligned
 *                as {@link BaseFence#alignmentBytes} of such an instruction's result says
 */
public record LaunchPromise(Map<Instruction, Long> most, Set<Instruction> windows) {
    /** Copies both. */
    public LaunchPromise {
        most = Collections.unmodifiableMap(new IdentityHashMap<>(most));
        Set<Instruction> copy = Collections.newSetFromMap(new IdentityHashMap<>());
        copy.addAll(windows);
        windows = Collections.unmodifiableSet(copy);
    }
}
