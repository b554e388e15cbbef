/**
 * From the PTX tree to the lowered program. {@link io.tessera.software.lowering.PtxProgram} is the entry; {@code Reachability} and {@code SharedMemoryLayout}
 * determine the functions and variables of a kernel, {@code FunctionLowering} walks a body with its scopes, {@code InstructionLowering} lowers one instruction.
 * Instructions that the software GPU lacks are refused here, with their name and line.
 */
package io.tessera.software.lowering;
