/**
 * The execution model, shared by the interpreter and compiled kernels. Every CUDA thread is a sequential program that
 * can be stopped and resumed ({@link io.tessera.software.execution.ThreadProgram}), so the threads of a warp are
 * scheduled independently, as on NVIDIA GPUs since Volta. All threads of a block run on one host thread
 * ({@link io.tessera.software.execution.BlockRun}); the blocks of a grid are spread over the host's cores
 * ({@link io.tessera.software.execution.GridRunner}).
 */
package io.tessera.software.execution;
