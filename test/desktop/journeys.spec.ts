import { openDesktop } from '../kit/electron.ts'
import { describeJourneys } from '../kit/journeys.ts'

describeJourneys('desktop window', (made) => openDesktop(made))
