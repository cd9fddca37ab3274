import { create } from 'zustand'

/** Layers over any screen that more than one place opens. */
interface Layers {
  readonly palette: boolean
  readonly keys: boolean
}
export const useLayers = create<Layers>(() => ({ palette: false, keys: false }))
export const openPalette = () => useLayers.setState({ palette: true })
export const openKeySheet = () => useLayers.setState({ keys: true })
