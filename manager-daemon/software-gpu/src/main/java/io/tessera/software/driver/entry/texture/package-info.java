/** Entries about textures, surfaces and tensor maps. */
package io.tessera.software.driver.entry.texture;
