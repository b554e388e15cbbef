/**
 * How images of tenants become fenced programs: rewritten, checked, linked and compiled, or refused.
 *
 * <p>{@link io.tessera.executor.fence.program.ProgramMaker} comes first.
 */
package io.tessera.executor.fence.program;
