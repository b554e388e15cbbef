/**
 * Chooses the device on which a program starts that leaves the choice to the manager ({@code tessera run --device auto}).
 *
 * <p>Pure policy: no clock, no file, no socket, no thread of its own. Each rule is a class: a new one implements {@link PlacementRule} and gets a row
 * in {@link DevicePlacement}.
 */
package io.tessera.manager.placement;
