/**
 * One thread owns every session, every device and every turn. Its duty cycle lets each of them do the work that is due;
 * other threads reach it through {@link io.tessera.manager.conductor.ConductorProxy} alone.
 */
package io.tessera.manager.conductor;
