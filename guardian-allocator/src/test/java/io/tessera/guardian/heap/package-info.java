/** Tests of the allocator inside a window, against a plain model of what it promises. */
package io.tessera.guardian.heap;
