/**
 * From the PTX tree to the lowered program. {@link io.tessera.software.lowering.PtxProgram} is the entry;
 * {@code Reachability} and {@code SharedMemoryLayout} decide what belongs to a kernel, {@code FunctionLowering} walks a body
 * with its scopes, {@code InstructionLowering} turns one instruction into one. What the software GPU lacks is refused
 * here, with its name and line.
 */
package io.tessera.software.lowering;
