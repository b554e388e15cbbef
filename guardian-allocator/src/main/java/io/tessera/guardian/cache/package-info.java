/**
 * A cache of compiled fenced code on disk. Code that was rewritten and assembled once is not produced again, even for another tenant. A process has
 * one {@link io.tessera.guardian.cache.CodeCache}; processes of one user share the directory. An entry is found by a {@link
 * io.tessera.guardian.cache.CacheKey}, which names everything that its contents depend on, and holds a {@link io.tessera.guardian.cache.CachedCode}.
 *
 * <p>JDK only. Correctness never depends on the cache: a failure is a miss, a count and at most one line of output.
 */
package io.tessera.guardian.cache;
