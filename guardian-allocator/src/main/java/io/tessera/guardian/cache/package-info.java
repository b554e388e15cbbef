/**
 * Compiled fenced code on disk: what a program once made the rewriter and the assembler produce is never produced again,
 * not by another tenant either. One {@link io.tessera.guardian.cache.CodeCache} a process; processes of one user share the
 * directory. An entry is found by a {@link io.tessera.guardian.cache.CacheKey}, which names everything that its contents
 * depend on, and holds a {@link io.tessera.guardian.cache.CachedCode}.
 *
 * <p>JDK only. The cache is never needed for a right answer: whatever goes wrong with it is a miss, a count and at most
 * one line.
 */
package io.tessera.guardian.cache;
