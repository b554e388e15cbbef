/** Tests of the device port's descriptions. */
package io.tessera.device;
