package io.tessera.software.processor;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.launch.DeviceLimits;

/**
 * How a software GPU is set up.
 *
 * @param memoryBytes capacity of its memory
 * @param workers     host threads that run blocks, the launching thread not counted
 * @param limits      what launches may have
 * @param translator  turns lowered kernels into programs: the compiler or the interpreter
 * @param clock       what {@code %clock64} and {@code %globaltimer} read
 */
public record ProcessorOptions(long memoryBytes, int workers, DeviceLimits limits, KernelTranslator translator,
        DeviceClock clock) {
}
