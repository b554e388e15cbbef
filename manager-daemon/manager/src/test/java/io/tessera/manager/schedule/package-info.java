/** Stepwise tests, random histories and a simulated device for the turns of one device. */
package io.tessera.manager.schedule;
