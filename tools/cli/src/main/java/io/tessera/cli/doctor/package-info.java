/**
 * {@code tessera doctor}: one check a file, each answering with findings; see {@link io.tessera.cli.doctor.DoctorCheck} for how
 * to add one. Nothing is changed, nothing is started but the probe.
 */
package io.tessera.cli.doctor;
