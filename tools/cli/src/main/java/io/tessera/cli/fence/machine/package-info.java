/**
 * {@code tessera fence --machine-code}: what fences do to machine code for sm_90. {@link io.tessera.cli.fence.machine.MachineCodeRun} is the work on files,
 * {@link io.tessera.cli.fence.machine.CubinOutcome} what becomes of one image, {@link io.tessera.cli.fence.machine.CodeChanges} what is different in a kernel.
 */
package io.tessera.cli.fence.machine;
