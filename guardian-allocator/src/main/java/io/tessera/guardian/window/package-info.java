/**
 * Windows: the ranges of a GPU's address space that belong to tenants. {@link io.tessera.guardian.window.WindowLayout} describes how a window is
 * divided, {@link io.tessera.guardian.window.WindowSpace} assigns windows their addresses, and {@link io.tessera.guardian.window.BoundsEntry}
 * describes one window. Memory inside a window is managed in {@code io.tessera.guardian.heap}.
 *
 * <p>JDK only. Nothing here reserves or maps anything: addresses are numbers.
 */
package io.tessera.guardian.window;
