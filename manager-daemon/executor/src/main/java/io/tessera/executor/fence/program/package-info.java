/**
 * Turns images of tenants into fenced programs: an image is rewritten, checked, linked and compiled, or refused.
 *
 * <p>{@link io.tessera.executor.fence.program.ProgramMaker} comes first.
 */
package io.tessera.executor.fence.program;
